"""Reads the stacks that faulthandler writes when the time is up."""

from __future__ import annotations

import re
from pathlib import Path

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
# faulthandler writes ASCII only.
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
MAX_BYTES = 200_000


def read_stacks(folder: Path) -> list[tuple[str, int, str]]:
    """The frames of the main threads, outermost first: file, line, function.

    Args:
        folder: where the reporter kept its `stacks*.txt`, one file for each process.
    """
    frames: list[tuple[str, int, str]] = []
    for path in sorted(folder.glob("stacks*.txt")):
        text = path.read_bytes()[:MAX_BYTES].decode("utf-8", "replace")
        # faulthandler gives the innermost frame first; the main thread is where the signal arrives.
        _, _, main = text.rpartition("Current thread")
        found = [_FRAME.match(line) for line in main.splitlines()]
        frames += [
            (_unescape(one[1]), int(one[2]), _unescape(one[3]))
            for one in reversed(found)
            if one is not None
        ]
    return frames


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), text)
