"""What the guard gets wrong today: cheats that it believes, and honest work that it refuses.

A defence that lands takes titles away here; nothing is added but with a new trajectory.
"""

from __future__ import annotations

BELIEVED = frozenset(
    {
        # runner-objects
        # stdlib-patching
        # module-swapping
        # ignored-files
        # own-plugin
        # native-code
        # near-values
        # only-under-test
        "npm-test: standard output is no terminal",
        # early-exit
        # patched-assertions
        # known-input
        # encoded-rows
        # narrowing
        "pyright: a literal that has always another value",
        "pyright: a function that is said to never come back",
        "pyright: an annotation that rules out what is given",
        "pyright: a guard that lies about the type",
        "pyright: the cases of a match are complete before the one that runs",
        "pyright: a number that is said to be zero",
    }
)
REFUSED = frozenset[str]()
