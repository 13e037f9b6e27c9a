"""Which lines match; also a program of its own, so that a slow pattern can be ended.

A pattern such as `(a+)+$` can keep Python's `re` busy for ever, and meanwhile no other thread of
the process runs. Patterns that could are searched for in a process with a time-out. As a program it
uses the standard library alone, reads from standard input a line of JSON (pattern, ignore_case,
context, max_matches, and the sizes of the files that follow it), and prints what it found as JSON.
"""

from __future__ import annotations

import json
import re
import sys

MAX_LINE_CHARS = 400
"""How much of a line is shown."""

SNIFFED_BYTES = 8192

Line = tuple[int, bool, str]
"""A line's number, whether it matches (or only stands near one that does), and its text."""


def search_file(regex: re.Pattern[str], data: bytes, context: int, room: int) -> list[Line]:
    """The matching lines of one file, and `context` lines around each; none of a binary file.

    Args:
        regex: looked for in each line without its line end.
        data: the file, read as UTF-8.
        context: how many lines before and after.
        room: how many matching lines are wanted at most.
    """
    if b"\0" in data[:SNIFFED_BYTES]:
        return []
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    hits: list[int] = []
    for at, line in enumerate(lines):
        if len(hits) >= room:
            break
        if regex.search(line.removesuffix("\r")):
            hits.append(at)
    matching = set(hits)
    shown = sorted({near for at in hits for near in range(at - context, at + context + 1)})
    return [
        (at + 1, at in matching, _shortened(lines[at].removesuffix("\r")))
        for at in shown
        if 0 <= at < len(lines)
    ]


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + " [...]"


def main() -> None:
    """Search what stands on standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    regex = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    left = request["max_matches"]
    found: list[list[Line]] = []
    for size in request["sizes"]:
        lines = search_file(regex, sys.stdin.buffer.read(size), request["context"], left)
        left -= sum(1 for _, matches, _ in lines if matches)
        found.append(lines)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
