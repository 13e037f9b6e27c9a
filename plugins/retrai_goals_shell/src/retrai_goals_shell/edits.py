"""Changes source files in a few places, by where they stand in the text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Edit = tuple[int, int, str]
"""Where a piece begins and ends, and what takes its place."""


def read_editable(path: Path) -> str | None:
    """The text of a file; None where it cannot be read, or places would move when it is written."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return None
        source = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\r" in source else source


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap.

    Example:
        >>> edited("a + b", [(0, 1, "sum"), (4, 5, "2")])
        'sum + 2'
    """
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source
