"""The lines that a unified diff adds and takes away, and a file's text as it was before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrai_goal_support import changed_lines


def added_lines(diff: str) -> Iterator[tuple[str, int, str]]:
    """Each line that a unified diff adds: the file, its new line number, the text."""
    return ((path, number, text) for sign, path, number, text in changed_lines(diff) if sign == "+")


def removed_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Each line that a unified diff takes away: the file by its new name, and the text."""
    return ((path, text) for sign, path, _, text in changed_lines(diff) if sign == "-")


def text_before(diff: str, path: str, now: Sequence[str]) -> str:
    """A file as it was, from what it is now and what changed; empty for a new file.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,2 +1,2 @@\\n-a = 1\\n+a = 2\\n b = 3\\n"
        >>> text_before(diff, "x.py", ["a = 2", "b = 3"])
        'a = 1\\nb = 3'
    """
    gone: dict[int, list[str]] = {}
    new: set[int] = set()
    for sign, name, number, text in changed_lines(diff):
        if name == path and sign == "-":
            # Of a file that is empty now, or gone, lines are counted from 0.
            gone.setdefault(max(number, 1), []).append(text)
        elif name == path:
            new.add(number)
    lines: list[str] = []
    for number, text in enumerate([*now, None], start=1):
        lines += gone.get(number, [])
        if text is not None and number not in new:
            lines.append(text)
    return "\n".join(lines)
