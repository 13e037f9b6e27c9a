"""The lines that a unified diff adds and takes away, and a file's text as it was before."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def added_lines(diff: str) -> Iterator[tuple[str, int, str]]:
    """Each line that a unified diff adds: the file, its new line number, the text."""
    return ((path, number, text) for sign, path, number, text in _changes(diff) if sign == "+")


def removed_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Each line that a unified diff takes away: the file by its new name, and the text."""
    return ((path, text) for sign, path, _, text in _changes(diff) if sign == "-")


def text_before(diff: str, path: str, now: Sequence[str]) -> str:
    """A file as it was, from what it is now and what changed; empty for a new file.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,2 +1,2 @@\\n-a = 1\\n+a = 2\\n b = 3\\n"
        >>> text_before(diff, "x.py", ["a = 2", "b = 3"])
        'a = 1\\nb = 3'
    """
    gone: dict[int, list[str]] = {}
    new: set[int] = set()
    for sign, name, number, text in _changes(diff):
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


def _changes(diff: str) -> Iterator[tuple[str, str, int, str]]:
    path, number, old_left, new_left = "", 0, 0, 0
    # Not `splitlines`: a form feed or a Unicode separator ends no line of a diff, nor of Python.
    for line in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            # A hunk says how long it is; what looks like a header within it is content.
            if line.startswith(("+", "-")):
                yield line[0], path, number, line[1:]
            old_left -= not line.startswith(("+", "\\"))
            new_left -= not line.startswith(("-", "\\"))
            number += not line.startswith(("-", "\\"))
        elif line.startswith("+++ "):
            path = _unquoted(line[4:].split("\t")[0]).removeprefix("b/")
        elif found := _HUNK.match(line):
            old, start, new = found.groups(default="1")
            number, old_left, new_left = int(start), int(old), int(new)


def _unquoted(name: str) -> str:
    """A path as git writes it: in quotes, with octal bytes, where it has unusual characters."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return codecs.escape_decode(name[1:-1].encode())[0].decode("utf-8", "surrogateescape")
    except ValueError:
        return name
