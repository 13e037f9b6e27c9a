"""What stands nearest to a text that was not found."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

MAX_SHOWN_LINES = 20
MAX_COMPARED_LINES = 20_000
_NUMBERED = re.compile(r"\s*\d+[\t|:]")


def nearest_lines(have: Sequence[str], want: Sequence[str]) -> str:
    """Say that `want` is not among the lines `have`, where it nearly is, and what differs.

    Example:
        >>> print(nearest_lines(["x = 1", "y = 2"], ["y = 3"]))
        `old` is not found in the file. The nearest lines, with their numbers:
        2   y = 2
        Line 2 differs: the file has 'y = 2', `old` has 'y = 3'.
    """
    message = "`old` is not found in the file."
    if not have:
        return f"{message} The file is empty."
    if want and all(_NUMBERED.match(line) for line in want):
        message += " It seems to hold line numbers, which are not part of the file."
    start = _best_start(have, want)
    if start is None:
        return f"{message} No line of the file resembles it: read the file again."
    first = max(0, start)
    shown = have[first : start + len(want)][:MAX_SHOWN_LINES]
    width = len(str(first + len(shown)))
    listed = [f"{number:>{width}}   {line}" for number, line in enumerate(shown, first + 1)]
    parts = [f"{message} The nearest lines, with their numbers:", *listed]
    if difference := _first_difference(have, want, start):
        parts.append(difference)
    return "\n".join(parts)


def _best_start(have: Sequence[str], want: Sequence[str]) -> int | None:
    """Where `want` would begin (maybe before the first line), by the lines that it shares."""
    positions: dict[str, list[int]] = {}
    for at, line in enumerate(have):
        positions.setdefault(line.strip(), []).append(at)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(want):
        text = line.strip()
        for at in positions.get(text, ()):
            # A long line that fits says more than a bracket.
            votes[at - offset] += len(text)
    best = max(votes.items(), key=lambda vote: (vote[1], -vote[0]), default=(0, 0))
    if best[1] > 0:
        return best[0]
    offset, telling = max(enumerate(want), key=lambda pair: len(pair[1].strip()))
    near = _most_similar(have[:MAX_COMPARED_LINES], telling.strip())
    return None if near is None else near - offset


def _most_similar(have: Sequence[str], text: str) -> int | None:
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(text)
    best, best_ratio = None, 0.5
    for at, line in enumerate(have):
        matcher.set_seq1(line.strip())
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = at, ratio
    return best


def _first_difference(have: Sequence[str], want: Sequence[str], start: int) -> str:
    for offset, line in enumerate(want):
        at = start + offset
        if not 0 <= at < len(have):
            return f"Line {offset + 1} of `old`, {line[:200]!r}, has no counterpart in the file."
        if have[at] != line:
            blanks = have[at].strip() == line.strip()
            how = "only in blanks" if blanks else ""
            words = f"differs {how}".strip()
            return (
                f"Line {at + 1} {words}: the file has {have[at][:200]!r}, `old` has {line[:200]!r}."
            )
    return ""
