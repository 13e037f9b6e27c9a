"""Brings into a copy of the data what a query is careful about and the data lacks: values in a
column that has none, NULL where the query says what counts then, rows that meet in a join, and two
rows with the greatest value.

A query that leaves such care out is right for this data only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .connecting import Database
from .reading import quoted
from .row_changes import add_rows, set_values

PART = 100
"""One of so many rows gets what is missing."""
_REPLACED = re.compile(
    r"\b(?:coalesce|ifnull)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*,|(\w+)\s+is\s+not\s+null\b",
    re.IGNORECASE,
)
"""A column whose NULL a query has an answer to."""
_JOINED = re.compile(r"\b\w+\s*\.\s*(\w+)\s*=\s*\w+\s*\.\s*(\w+)")
_FIRST = re.compile(r"=\s*\(\s*select\s+(max|min)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*\)", re.IGNORECASE)
"""A column of which the greatest or least value is looked for, which several rows may have."""
_FILLINGS = ("2024-01-02", 1)
"""A value for every type."""


def add_missing_data(
    database: Database, tables: Sequence[str], text: str, chosen: random.Random
) -> None:
    """Change some rows of the copy.

    Args:
        database: the copy.
        tables: those that the query reads, quoted.
        text: of the query.
        chosen: decides which rows.
    """
    cursor = database.cursor()
    columns: dict[str, list[str]] = {}
    for table in tables:
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        columns[table] = [str(column[0]) for column in cursor.description]
    replaced = {name.lower() for pair in _REPLACED.findall(text) for name in pair}
    for table, names in columns.items():
        _fill(cursor, table, names, replaced, chosen)
    for which, column in _FIRST.findall(text):
        for table in [each for each in tables if column in columns[each]]:
            _repeat_first(cursor, table, columns[table], which, column, chosen)
    for pair in _JOINED.findall(text):
        for here, there in (pair, pair[::-1]):
            _let_meet(cursor, columns, here, there, chosen)
    cursor.close()


def _fill(
    cursor: Any, table: str, names: Sequence[str], replaced: set[str], chosen: random.Random
) -> None:
    """Values in columns that have none, and NULL in those `replaced` where it is so."""
    cursor.execute(f"SELECT rowid FROM {table}")
    rows = [row[0] for row in cursor.fetchall()]
    for column in names:
        some = chosen.sample(rows, min(len(rows), 1 + len(rows) // PART))
        cursor.execute(f"SELECT COUNT({quoted(column)}) FROM {table}")
        ((known,),) = cursor.fetchall()
        if not known:
            set_values(cursor, table, column, dict.fromkeys(some, _FILLINGS))
        elif column.lower() in replaced:
            set_values(cursor, table, column, dict.fromkeys(some, (None,)))


def _repeat_first(
    cursor: Any, table: str, names: list[str], which: str, column: str, chosen: random.Random
) -> None:
    """A second row like the one with the greatest or least value."""
    name = quoted(column)
    sought = f"SELECT {which}({name}) FROM {table}"
    cursor.execute(f"SELECT rowid FROM {table} WHERE {name} = ({sought}) LIMIT 1")
    first = [row[0] for row in cursor.fetchall()]
    with suppress(Exception):  # a driver's own errors: the column is unique, or another one
        add_rows(cursor, table, names, first, chosen, repeated=column)


def _let_meet(
    cursor: Any,
    columns: Mapping[str, Sequence[str]],
    here: str,
    there: str,
    chosen: random.Random,
) -> None:
    """Rows of one table that meet rows of another one, where none does."""
    for table, names in columns.items():
        for other, keys in columns.items():
            if table != other and here in names and there in keys:
                _join(cursor, (table, here), (other, there), chosen)


def _join(
    cursor: Any, here: tuple[str, str], there: tuple[str, str], chosen: random.Random
) -> None:
    """Let some rows of a table meet rows of another one, where none does."""
    (table, column), (other, key) = here, there
    name, known = quoted(column), f"SELECT {quoted(key)} FROM {other}"
    cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE {name} IN ({known})")
    if cursor.fetchall() != [(0,)]:
        return
    cursor.execute(f"SELECT rowid FROM {table}")
    rows = [row[0] for row in cursor.fetchall()]
    cursor.execute(f"SELECT DISTINCT {quoted(key)} FROM {other} WHERE {quoted(key)} IS NOT NULL")
    keys = [value for (value,) in cursor.fetchall()]
    count = min(len(keys), len(rows), 1 + len(rows) // PART)
    pairs = zip(chosen.sample(rows, count), chosen.sample(keys, count), strict=True)
    set_values(cursor, table, column, {row: (value,) for row, value in pairs})
