"""Brings into a copy of the data what a query is careful about and the data lacks: values in a
column that has none, NULL where the query says what counts then, rows that meet in a join, and two
rows with the greatest value.

A query that leaves such care out is right for this data only. Keys stay as they are.
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
from .unique_columns import referring_in, unique_together_in

PART = 100
"""One of so many rows gets what is missing."""
_REPLACED = re.compile(r"\b(?:coalesce|ifnull)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*,", re.IGNORECASE)
"""A column whose NULL a query has an answer to."""
_FIRST = re.compile(r"=\s*\(\s*select\s+(max|min)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*\)", re.IGNORECASE)
"""A column of which the greatest or least value is looked for, which several rows may have."""
_ALIAS = re.compile(r"\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
_JOINED = re.compile(r"\b(\w+)\s*\.\s*(\w+)\s*=\s*(\w+)\s*\.\s*(\w+)")
_FILLINGS = ("2024-01-02", 1)
"""Of these a column takes one, whatever its type."""


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
    together_in, refers_in = unique_together_in(database), referring_in(database)
    cursor = database.cursor()
    text = text.lower()
    replaced, first = set(_REPLACED.findall(text)), _FIRST.findall(text)
    free: dict[str, list[str]] = {}
    for table in tables:
        bare = table.strip('"')
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        columns = [str(column[0]) for column in cursor.description]
        together, refers = together_in(bare) or (), set(refers_in(bare))
        unique = {name for names in together for name in names}
        free[bare.lower()] = names = [each for each in columns if each not in unique | refers]
        _fill(cursor, table, names, replaced, chosen)
        if unique.isdisjoint(refers):
            _repeat_first(cursor, table, columns, first, refers, chosen)
    names_of = {alias or table: table for table, alias in _ALIAS.findall(text)}
    names_of |= {table: table for table in free}
    for one, column, other, key in _JOINED.findall(text):
        here, there = names_of.get(one, ""), names_of.get(other, "")
        _join(cursor, free, (here, column), (there, key), chosen)
        _join(cursor, free, (there, key), (here, column), chosen)
    cursor.close()


def _some(cursor: Any, table: str, chosen: random.Random) -> list[Any]:
    cursor.execute(f"SELECT rowid FROM {table}")
    rows = [row[0] for row in cursor.fetchall()]
    return chosen.sample(rows, min(len(rows), 1 + len(rows) // PART))


def _fill(
    cursor: Any, table: str, names: Sequence[str], replaced: set[str], chosen: random.Random
) -> None:
    """Values in columns that have none, and NULL in those `replaced` where it is so."""
    if not names:
        return
    counts = ", ".join(f"COUNT({quoted(each)})" for each in names)
    cursor.execute(f"SELECT {counts} FROM {table}")
    (known,) = cursor.fetchall()
    for column, count in zip(names, known, strict=True):
        if not count:
            some = _some(cursor, table, chosen)
            set_values(cursor, table, column, dict.fromkeys(some, _FILLINGS))
        elif column.lower() in replaced:
            some = _some(cursor, table, chosen)
            set_values(cursor, table, column, dict.fromkeys(some, (None,)))


def _repeat_first(
    cursor: Any,
    table: str,
    columns: list[str],
    first: Sequence[tuple[str, str]],
    refers: set[str],
    chosen: random.Random,
) -> None:
    """A second row like the one with the greatest or least value of a column."""
    for which, sought in first:
        for column in [each for each in columns if each.lower() == sought]:
            name = quoted(column)
            found = f"SELECT {which}({name}) FROM {table}"
            cursor.execute(f"SELECT rowid FROM {table} WHERE {name} = ({found}) LIMIT 1")
            rows = [row[0] for row in cursor.fetchall()]
            with suppress(Exception):  # a driver's own errors: the column is unique
                add_rows(cursor, table, columns, rows, chosen, kept={column, *refers})


def _join(
    cursor: Any,
    free: Mapping[str, Sequence[str]],
    here: tuple[str, str],
    there: tuple[str, str],
    chosen: random.Random,
) -> None:
    """Let some rows of a table meet rows of another one, where none does."""
    table, other = quoted(here[0]), quoted(there[0])
    column = next((each for each in free.get(here[0], ()) if each.lower() == here[1]), "")
    if not column or here[0] == there[0] or there[0] not in free or column.lower() == "id":
        return
    name, key = quoted(column), quoted(there[1])
    cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE {name} IN (SELECT {key} FROM {other})")
    if cursor.fetchall() != [(0,)]:
        return
    rows = _some(cursor, table, chosen)
    cursor.execute(f"SELECT DISTINCT {key} FROM {other} WHERE {key} IS NOT NULL")
    keys = [value for (value,) in cursor.fetchall()]
    pairs = zip(rows, chosen.sample(keys, min(len(keys), len(rows))), strict=False)
    set_values(cursor, table, column, {row: (value,) for row, value in pairs})
