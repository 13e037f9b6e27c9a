"""Walks through code by its brackets; strings and comments must be blanked before."""

from __future__ import annotations

import re

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


def past(masked: str, at: int, leaves: re.Pattern[str]) -> int | None:
    """The place behind what stands at `at`, a block in brackets or one sign.

    Args:
        masked: the code.
        at: a place in it.
        leaves: what ends the function; None is the answer where it stands there.

    Example:
        >>> past("(a) b", 0, re.compile("return")), past("{ return }", 0, re.compile("return"))
        (3, None)
    """
    if masked[at] not in OPEN:
        return None if leaves.match(masked, at) else at + 1
    end = matching(masked, at)
    return None if leaves.search(masked, at, end) else end
