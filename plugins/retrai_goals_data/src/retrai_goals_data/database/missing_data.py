"""Adds cases to a copy of the data that a query handles and the data lacks: values in a column that
has none, values that the query asks for, other capitals and spaces where it forgives them, NULL
where it gives a default, rows that meet in a join, and two rows with the greatest value.

A query that does not handle them is right for this data only. Keys stay as they are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .connecting import Database
from .keys_in_rows import Key
from .reading import quoted, unquoted
from .row_changes import PART, add_rows, columns_of, row_ids, set_values
from .unique_columns import referring_in, unique_together_in

_NULL_HANDLED = re.compile(r"\b(?:coalesce|ifnull)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*,")
"""A column for whose NULL a query gives a default."""
_EXTREME = re.compile(
    r"=\s*\(\s*select\s+(max|min)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)\s*\)", re.IGNORECASE
)
"""A column of which the greatest or least value is looked for, which several rows may have."""
_FORGIVEN = re.compile(r"\b(lower|upper|[lr]?trim)\s*\(\s*(?:\w+\s*\.\s*)?(\w+)")
"""A column whose case, or the spaces around whose values, do not count."""
_ALIAS = re.compile(r"\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?")
_JOIN_PAIR = re.compile(r"\b(\w+)\s*\.\s*(\w+)\s*=\s*(\w+)\s*\.\s*(\w+)")
_COMPARED = re.compile(r"\b(\w+)\s*(?:=|<>|!=)\s*(?:'([^']*)'|(\d+)\b)")
"""A column that is compared with a value."""
_FALLBACK_VALUES = ("2024-01-02", 1)
"""Tried in turn for a column that has no value yet."""


def add_missing_data(
    database: Database, tables: Mapping[str, Sequence[Key]], text: str, chosen: random.Random
) -> None:
    """Change some rows of the copy.

    Args:
        database: the copy.
        tables: those that the query reads, quoted, with the keys that only their rows have.
        text: of the query.
        chosen: decides which rows.
    """
    together_in, refers_in = unique_together_in(database), referring_in(database)
    cursor = database.cursor()
    asked = [
        (column.lower(), int(number) if number else shown)
        for column, shown, number in _COMPARED.findall(text)
    ]
    text = text.lower()  # as the patterns are
    replaced, first = set(_NULL_HANDLED.findall(text)), _EXTREME.findall(text)
    forgiven = sorted({(name, how.endswith("trim")) for how, name in _FORGIVEN.findall(text)})
    free: dict[str, list[str]] = {}
    # The same of a table for all that a query asks for: it may ask for it in one row.
    some: dict[str, list[Any]] = {}
    for table, keys in tables.items():
        bare = unquoted(table)
        columns = columns_of(cursor, table)
        together, refers = together_in(bare) or (), set(refers_in(bare))
        unique = {name for names in together for name in names}
        free[bare.lower()] = names = [each for each in columns if each not in unique | refers]
        rows = row_ids(cursor, table)
        some[bare.lower()] = rows = chosen.sample(rows, min(len(rows), 1 + len(rows) // PART))
        _fill_columns(cursor, table, names, replaced, rows)
        for column, is_trim in forgiven:
            for name in [each for each in names if each.lower() == column]:
                _change_spelling(cursor, table, name, rows, is_trim=is_trim)
        for column, value in asked:
            for name in [each for each in names if each.lower() == column]:
                _put_what_is_asked(cursor, table, name, value, rows)
        if unique.isdisjoint(refers):
            in_keys = {name for key in keys for name in key}
            for another in (None, *sorted(in_keys)):
                value = (another, chosen.choice(rows)) if another and rows else None
                _repeat_extreme(cursor, table, columns, first, refers, chosen, value)
    names_of = {alias or table: table for table, alias in _ALIAS.findall(text)}
    names_of |= {table: table for table in free}
    for one, column, other, key in _JOIN_PAIR.findall(text):
        here, there = names_of.get(one, ""), names_of.get(other, "")
        for pair in (((here, column), (there, key)), ((there, key), (here, column))):
            _let_rows_meet(cursor, free, *pair, some.get(pair[0][0], ()), chosen)
    cursor.close()


def _fill_columns(
    cursor: Any, table: str, names: Sequence[str], replaced: set[str], some: Sequence[Any]
) -> None:
    """Put values into columns that have none, and NULL into those in `replaced`."""
    if not names:
        return
    counts = ", ".join(f"COUNT({quoted(each)})" for each in names)
    cursor.execute(f"SELECT {counts} FROM {table}")
    (known,) = cursor.fetchall()
    for column, count in zip(names, known, strict=True):
        if not count:
            set_values(cursor, table, column, dict.fromkeys(some, _FALLBACK_VALUES))
        elif column.lower() in replaced:
            set_values(cursor, table, column, dict.fromkeys(some, (None,)))


def _change_spelling(
    cursor: Any, table: str, column: str, some: Sequence[Any], *, is_trim: bool
) -> None:
    """Put spaces around some values, or change their case: the query forgives it."""
    name, listed = quoted(column), ", ".join(str(int(row)) for row in some)
    case = f"CASE {name} WHEN upper({name}) THEN lower({name}) ELSE upper({name}) END"
    value = f"' ' || {name} || ' '" if is_trim else case
    with suppress(Exception):  # a driver's own errors: a constraint
        cursor.execute(f"UPDATE {table} SET {name} = {value} WHERE rowid IN ({listed})")


def _put_what_is_asked(
    cursor: Any, table: str, column: str, value: str | int, some: Sequence[Any]
) -> None:
    """Have a value in some rows, and not in all of them."""
    cursor.execute(f"SELECT COUNT(*), COUNT(NULLIF({quoted(column)}, ?)) FROM {table}", [value])
    ((every, others),) = cursor.fetchall()
    if others and others < every:
        return
    another = f"not {value}" if isinstance(value, str) else value + 1
    set_values(cursor, table, column, dict.fromkeys(some, (value if others else another,)))


def _repeat_extreme(
    cursor: Any,
    table: str,
    columns: list[str],
    first: Sequence[tuple[str, str]],
    refers: set[str],
    chosen: random.Random,
    other: tuple[str, Any] | None,
) -> None:
    """A second row like the one with the greatest or least value of a column; where another column
    and a row are given, with that row's value of it."""
    for which, sought in first:
        for column in [each for each in columns if each.lower() == sought]:
            name = quoted(column)
            found = f"SELECT {which}({name}) FROM {table}"
            cursor.execute(f"SELECT rowid FROM {table} WHERE {name} = ({found}) LIMIT 1")
            rows = [row[0] for row in cursor.fetchall()]
            with suppress(Exception):  # a driver's own errors: the column is unique
                add_rows(cursor, table, columns, rows, chosen, kept={column, *refers})
                if other and other[0] != column:
                    _copy_to_newest(cursor, table, quoted(other[0]), other[1])


def _copy_to_newest(cursor: Any, table: str, column: str, row: Any) -> None:
    """Give the newest row another row's value of a column."""
    value = f"(SELECT {column} FROM {table} WHERE rowid = {int(row)})"
    newest = f"(SELECT MAX(rowid) FROM {table})"
    cursor.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = {newest}")


def _let_rows_meet(
    cursor: Any,
    free: Mapping[str, Sequence[str]],
    here: tuple[str, str],
    there: tuple[str, str],
    rows: Sequence[Any],
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
    cursor.execute(f"SELECT DISTINCT {key} FROM {other} WHERE {key} IS NOT NULL")
    keys = [value for (value,) in cursor.fetchall()]
    pairs = zip(rows, chosen.sample(keys, min(len(keys), len(rows))), strict=False)
    set_values(cursor, table, column, {row: (value,) for row, value in pairs})
