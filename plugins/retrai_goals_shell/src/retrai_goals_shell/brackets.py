"""Walks through code by its brackets; strings and comments must be blanked before."""

from __future__ import annotations

OPEN, CLOSE = "([{", ")]}"


def matching(masked: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`.

    Example:
        >>> matching("f(a[0]) + 1", 1)
        7
    """
    depth = 0
    for at in range(start, len(masked)):
        if masked[at] in OPEN:
            depth += 1
        elif masked[at] in CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
    return len(masked)
