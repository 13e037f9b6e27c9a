"""The lines that a unified diff changes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def changed_lines(diff: str) -> Iterator[tuple[str, str, int, str]]:
    """Each changed line: `+` or `-`, the file by its new name, its new line number, the text.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,2 +1,2 @@\\n-a = 1\\n+a = 2\\n b = 3\\n"
        >>> list(changed_lines(diff))
        [('-', 'x.py', 1, 'a = 1'), ('+', 'x.py', 1, 'a = 2')]
    """
    path, number, old_left, new_left = "", 0, 0, 0
    # Not `splitlines`: a form feed or a Unicode separator ends no line of a diff.
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
