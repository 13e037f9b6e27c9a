"""Plain columns for lists that must start fast.

rich and tabulate each take longer to import than click, and `retrai plugins list` may take at most
1.8 times as long as click.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from .output import visible_name


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Rows as lines, every column but the last padded to its widest cell.

    Example:
        >>> print(aligned([("NAME", "KIND"), ("pytest", "goal")]))
        NAME    KIND
        pytest  goal
    """
    table = [[visible_name(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in table
    )


def _width(text: str) -> int:
    """Terminal columns: wide letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
