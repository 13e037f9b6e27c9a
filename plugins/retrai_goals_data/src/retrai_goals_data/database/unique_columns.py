"""Which columns of a table are unique together: by its primary key, its constraints, its rows.

Tables that were imported often have no key in their definition. Queries rely on one all the same
(one reading of a station in one hour), and so do their honest rewrites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import combinations, islice
from math import prod
from typing import Any

from .connecting import Database
from .reading import quoted

UniqueColumns = Sequence[Sequence[str]] | None
"""Names that are unique together, per key or constraint; None where the database cannot tell."""
MAX_ROWS = 100_000
"""So many rows of a table are looked at for columns that are unique together in them."""
MAX_COLUMNS = 3
MAX_TRIED = 500
"""So many pairs of columns are tried, and so many triples."""
MIN_EXPECTED_PAIRS = 10.0
"""Independent columns with as many values would have so many pairs of equal rows. That there is
none by chance has a probability below 0.01 % (Poisson)."""


def unique_together_in(database: Database) -> Callable[[str], UniqueColumns]:
    """What tells it of a table by its name, without quotation marks."""
    declared_in = _declared_in(database)

    def unique_together(table: str) -> UniqueColumns:
        declared = declared_in(table)
        if declared is None:
            return None
        return [*declared, *_unique_by_rows(database, table, declared)]

    return unique_together


def _unique_by_rows(
    database: Database, table: str, declared: Sequence[Sequence[str]]
) -> Iterator[Sequence[str]]:
    """Two or three columns that are unique together in the rows, and hardly by chance."""
    with closing(database.cursor()) as cursor:
        cursor.execute(f"SELECT * FROM {quoted(table)} LIMIT {MAX_ROWS}")
        names = [str(column[0]) for column in cursor.description]
        rows = cursor.fetchall()
    values = dict(zip(names, zip(*rows, strict=True), strict=False))
    counts = {name: _distinct(column) for name, column in values.items()}
    repeating = [name for name, count in counts.items() if 1 < count < len(rows)]
    known = [set(each) for each in declared if each]
    for size in range(2, MAX_COLUMNS + 1):
        for together in islice(combinations(repeating, size), MAX_TRIED):
            pairs = len(rows) ** 2 / 2 / prod(counts[name] for name in together)
            if pairs < MIN_EXPECTED_PAIRS or any(key <= set(together) for key in known):
                continue
            if _are_unique(zip(*(values[name] for name in together), strict=True)):
                known.append(set(together))
                yield together


def _distinct(column: Sequence[Any]) -> int:
    """How many values there are; 0 where one is NULL or cannot be compared so."""
    try:
        values = set(column)
    except TypeError:
        return 0
    return 0 if None in values else len(values)


def _are_unique(rows: Iterator[tuple[Any, ...]]) -> bool:
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        if row in seen:
            return False
        seen.add(row)
    return True


def _declared_in(database: Database) -> Callable[[str], UniqueColumns]:
    """By primary keys and constraints alone."""
    if database.engine is None:
        return lambda table: _in_sqlite(database, table)
    if database.dialect == "duckdb":
        return lambda table: _constraints(database, table, "PRIMARY KEY", "UNIQUE")
    from sqlalchemy import inspect

    inspector: Any = inspect(database.engine)
    return lambda table: _by_inspector(inspector, table)


def referring_in(database: Database) -> Callable[[str], set[str]]:
    """What tells the columns of a table of SQLite or DuckDB that refer to another table."""
    if database.engine is None:
        return lambda table: {row[3] for row in _pragma(database, "foreign_key_list", table)}
    return lambda table: {
        name for names in _constraints(database, table, "FOREIGN KEY") for name in names
    }


def _in_sqlite(database: Database, table: str) -> UniqueColumns:
    columns = _pragma(database, "table_info", table)
    key = sorted((place, name) for _, name, _, _, _, place in columns if place)
    found = [[name for _, name in key]]
    for _, index, is_unique, origin, _ in _pragma(database, "index_list", table):
        if is_unique and origin != "pk":
            found.append([name for _, _, name in _pragma(database, "index_info", index)])
    return found


def _pragma(database: Database, name: str, about: str) -> list[Any]:
    with closing(database.cursor()) as cursor:
        return cursor.execute(f"PRAGMA {name}({quoted(about)})").fetchall()


def _constraints(database: Database, table: str, *kinds: str) -> list[list[str]]:
    """The columns of each such constraint in DuckDB, whose catalog SQLAlchemy cannot read."""
    with closing(database.cursor()) as cursor:
        cursor.execute(
            "SELECT constraint_column_names, constraint_type FROM duckdb_constraints()"
            " WHERE table_name = ?",
            [table],
        )
        return [names for names, kind in cursor.fetchall() if kind in kinds]


def _by_inspector(inspector: Any, table: str) -> UniqueColumns:
    try:
        found: list[list[str]] = [inspector.get_pk_constraint(table)["constrained_columns"]]
        found += [one["column_names"] for one in inspector.get_unique_constraints(table)]
    except Exception:  # noqa: BLE001 - a view, or a driver that does not know
        return None
    return found
