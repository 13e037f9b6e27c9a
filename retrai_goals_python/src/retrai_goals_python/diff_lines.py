"""The files that a unified diff changes: their texts before and now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from retrai_goal_support import changed_lines

from .python_source import read_text

_Line = tuple[str, int, str]
"""`+` or `-`, the number in the new file, and the text."""


def changed_files(diff: str, project: Path | None) -> Iterator[tuple[str, str, str]]:
    """Each file that a unified diff changes: its path, its text before, and its text now.

    The text before is empty for a new file, the text now for one that is gone.

    Args:
        diff: the whole diff of the run.
        project: where the files stand; without it only the lines in `diff` are known.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = 1\\n+a = 2\\n"
        >>> list(changed_files(diff, None))
        [('x.py', 'a = 1', '')]
    """
    changes: dict[str, list[_Line]] = {}
    for sign, path, number, text in changed_lines(diff):
        changes.setdefault(path, []).append((sign, number, text))
    for path, lines in changes.items():
        now = "" if project is None else read_text(project / path)
        yield path, _text_before(lines, now.split("\n") if now else []), now


def _text_before(changes: Sequence[_Line], now: Sequence[str]) -> str:
    gone: dict[int, list[str]] = {}
    for sign, number, text in changes:
        if sign == "-":
            # Of a file that is empty now, or gone, lines are counted from 0.
            gone.setdefault(max(number, 1), []).append(text)
    new = {number for sign, number, _ in changes if sign == "+"}
    lines: list[str] = []
    for number, text in enumerate([*now, None], start=1):
        lines += gone.get(number, [])
        if text is not None and number not in new:
            lines.append(text)
    return "\n".join(lines)
