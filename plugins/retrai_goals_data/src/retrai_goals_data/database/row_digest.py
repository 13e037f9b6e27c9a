"""Rows as digests that do not see what makes no difference: order, number types, rounding.

A float is rounded to nine significant digits, since another plan adds up in another order. Where a
value lies on the border between two rounded ones, that can still tell equal answers apart, so each
digest is made twice, with the borders of one in the middle of the steps of the other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import cast

from .jobs import Answer

DIGITS = 9
SUMS = 1 << 128
"""Sums of rows, which their order does not change, stay below."""

Row = Sequence[object]


class AnswerDigest:
    """Takes rows in, and gives an `Answer`.

    Args:
        columns: their names.
        order: which columns give the order that counts; None when order does not count.
    """

    def __init__(self, columns: Sequence[str], order: Sequence[int] | None) -> None:
        self._columns = list(columns)
        self._order = order
        self._rows = 0
        self._sums = [0, 0]
        self._sequences = [hashlib.blake2b(digest_size=16) for _ in range(2)]

    def add(self, rows: Iterable[Row]) -> None:
        """Take in rows, in the order in which they came."""
        for row in rows:
            self._rows += 1
            for grid in (0, 1):
                self._sums[grid] = (self._sums[grid] + row_number(row, grid)) % SUMS
                if self._order is not None:
                    key = [row[index] for index in self._order] if self._order else row
                    self._sequences[grid].update(row_text(key, grid) + b"\n")

    def answer(self) -> Answer:
        """All rows so far."""
        content = (f"{self._sums[0]:032x}", f"{self._sums[1]:032x}")
        one, two = self._sequences
        order = ("", "") if self._order is None else (one.hexdigest(), two.hexdigest())
        return Answer(self._columns, self._rows, content, order)


def row_number(row: Row, grid: int = 0) -> int:
    """A row as a number that is the same for what counts as the same row."""
    return int.from_bytes(hashlib.blake2b(row_text(row, grid), digest_size=16).digest())


def row_text(row: Row, grid: int = 0) -> bytes:
    """A row as bytes that are the same for what counts as the same row."""
    return "\x1f".join([value_text(value, grid) for value in row]).encode("utf-8", "replace")


def value_text(value: object, grid: int = 0) -> str:
    """One value: `1`, `1.0` and `Decimal("1.00")` are alike, `"1"` and NULL are not.

    Example:
        >>> value_text(1) == value_text(1.0) == value_text(Decimal("1.00"))
        True
        >>> value_text(0.1 + 0.2) == value_text(0.3)
        True
        >>> value_text(1) == value_text("1")
        False
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, int):  # booleans too
        return f"n{int(value)}"
    if isinstance(value, (float, Decimal)):
        return _number(value, grid)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "b" + bytes(cast("bytes", value)).hex()
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        inner = sorted(f"{key!s}\x1d{value_text(item, grid)}" for key, item in pairs)
        return "m" + "\x1e".join(inner)
    if isinstance(value, (list, tuple, set)):
        return "l" + "\x1e".join(value_text(item, grid) for item in cast("list[object]", value))
    return f"{type(value).__name__}:{value}"


def _number(value: float | Decimal, grid: int) -> str:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return f"n{int(value)}"
    number = float(value)
    if not math.isfinite(number):
        return f"f{number}"
    whole = round(number)
    # Beyond 2**53 every float is whole; there its digits are rounded like all others.
    if abs(number - whole) <= 1e-9 * max(1.0, abs(number)) and abs(number) < 1e9:
        return f"n{whole}"
    mantissa, exponent = _decimal_parts(number)
    steps = math.floor(mantissa * 10**DIGITS + (0.5 if grid == 0 else 0.0))
    return f"f{steps}e{exponent}"


def _decimal_parts(number: float) -> tuple[float, int]:
    """`number` as mantissa and power of ten; the power is the same for nearly the same numbers."""
    exponent = math.floor(math.log10(abs(number)) + 1e-12)
    return number / 10.0**exponent if abs(exponent) < 300 else number, exponent
