"""Changes of some rows of a table: values exchanged, set, and rows added."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from contextlib import suppress
from numbers import Number
from typing import Any

from .reading import quoted

PART = 100
"""One of so many rows is another, or gets what is missing."""


def columns_of(cursor: Any, table: str) -> list[str]:
    """The names of a table's columns."""
    cursor.execute(f"SELECT * FROM {table} LIMIT 0")
    return [str(column[0]) for column in cursor.description]


def row_ids(cursor: Any, table: str) -> list[Any]:
    """The `rowid` of each row of a table."""
    cursor.execute(f"SELECT rowid FROM {table}")
    return [row[0] for row in cursor.fetchall()]


def add_rows(
    cursor: Any,
    table: str,
    columns: list[str],
    rows: list[Any],
    chosen: random.Random,
    *,
    kept: Collection[str] = (),
) -> None:
    """Add rows with the values of others, mixed. A numeric column whose values all differ gets
    values above its maximum, unless it is `kept`; nothing is added where another one is so. In half
    of the rows, every second one repeats the other values of the one before: a query may look for
    what is there twice."""
    half = len(rows) // 4 * 2
    made: list[list[Any]] = []
    for column in columns:
        name, listed = quoted(column), ", ".join(str(int(row)) for row in rows)
        cursor.execute(f"SELECT {name} FROM {table} WHERE rowid IN ({listed})")
        values = [value for (value,) in cursor.fetchall()]
        cursor.execute(f"SELECT COUNT(DISTINCT {name}) = COUNT(*), MAX({name}) FROM {table}")
        ((is_unique, largest),) = cursor.fetchall()
        is_unique = is_unique and column not in kept
        if is_unique and not isinstance(largest, Number):
            return
        if is_unique:
            values = [largest + number for number in range(1, len(values) + 1)]
        else:
            chosen.shuffle(values)
            values[1:half:2] = values[0:half:2]
        made.append(values)
    places = ", ".join("?" for _ in columns)
    for row in zip(*made, strict=True):
        cursor.execute(f"INSERT INTO {table} VALUES ({places})", row)


def exchange(cursor: Any, table: str, column: str, rows: list[Any]) -> None:
    """Let values of a column change places among some rows."""
    name = quoted(column)
    listed = ", ".join(str(int(row)) for row in rows)
    cursor.execute(f"SELECT rowid, {name} FROM {table} WHERE rowid IN ({listed})")
    known = cursor.fetchall()
    moved = [*known[1:], *known[:1]]
    for (row, _), (_, value) in zip(known, moved, strict=True):
        cursor.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = {int(row)}", (value,))


def set_values(
    cursor: Any, table: str, column: str, values: Mapping[Any, Collection[object]]
) -> None:
    """Give a column, by row, the first of some values that it takes."""
    for row, possible in values.items():
        for value in possible:
            with suppress(Exception):  # a driver's own errors: a constraint, or another type
                cursor.execute(
                    f"UPDATE {table} SET {quoted(column)} = ? WHERE rowid = {int(row)}", (value,)
                )
                break
