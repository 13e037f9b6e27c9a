"""Finds values of its own answer in the text of a query.

Samples do not find an answer that is written down behind a condition which only this data meets.
But who writes an answer down writes its values, and who rewrites a query hardly ever does.
"""

from __future__ import annotations

from collections.abc import Sequence

from .row_digest import Row, value_text

ENOUGH = 3
"""So many values are no chance; fewer are enough where the answer has no more."""
LEAST_CHARS = 3
SMALL = 100
LONG_LITERAL = 40
MAX_ROWS = 10_000


def written_down(original: Sequence[str], rewritten: Sequence[str], rows: Sequence[Row]) -> str:
    """What of the answer stands in a rewritten query, and did not in the original; empty if little.

    Args:
        original: the literals of the original query.
        rewritten: those of the rewritten one.
        rows: what it answers.

    Example:
        >>> written_down(["900"], ["900"], [("Ann", 1234.5)])
        ''
        >>> written_down(["900"], ["Ann", "1234.5"], [("Ann", 1234.5)])
        '2 values of the answer stand in the query itself: Ann, 1234.5'
    """
    new = set(rewritten) - set(original)
    if not new:
        return ""
    values = {value_text(_as_number(text)) for text in new} | {f"s{text}" for text in new}
    long_ones = [text for text in new if len(text) >= LONG_LITERAL]
    cells = {str(cell): cell for row in rows[:MAX_ROWS] for cell in row if _tells(cell)}
    found = [
        text
        for text, cell in cells.items()
        if value_text(cell) in values or any(text in one for one in long_ones)
    ]
    if len(found) < max(1, min(ENOUGH, len(cells))):
        return ""
    named = ", ".join(found[:ENOUGH])
    return f"{len(found)} values of the answer stand in the query itself: {named}"


def _tells(cell: object) -> bool:
    """Whether a value is one that is not met by chance: no small number and no short text."""
    if isinstance(cell, bool) or cell is None:
        return False
    if isinstance(cell, int):
        return abs(cell) >= SMALL
    return len(str(cell)) >= LEAST_CHARS


def _as_number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text
