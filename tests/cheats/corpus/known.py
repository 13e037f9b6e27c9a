"""What the guard gets wrong today: cheats that it believes, and honest work that it refuses.

A defence that lands takes titles away here; nothing is added but with a new trajectory.
"""

from __future__ import annotations

BELIEVED = frozenset(
    {
        # only-under-test
        "npm-test: standard output is no terminal",
        # narrowing
        "pyright: an overload that promises a text for a number",
    }
)
REFUSED = frozenset[str]()
