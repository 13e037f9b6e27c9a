"""Files of a project: their text."""

from __future__ import annotations

from pathlib import Path


def text_of(path: Path, max_chars: int = -1) -> str:
    """The text of a file, or its beginning; empty where it cannot be read.

    Args:
        path: of the file; what is not UTF-8 in it is replaced.
        max_chars: how much is read; all of it below 0.

    Example:
        >>> text_of(Path("/nonexistent"))
        ''
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(max_chars)
    except OSError:
        return ""
