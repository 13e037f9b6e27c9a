"""Which columns of a table are unique together, by its primary key and its constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from .connecting import Database
from .reading import quoted

UniqueColumns = Sequence[Sequence[str]] | None
"""Names that are unique together, per key or constraint; None where the database cannot tell."""


def unique_together_in(database: Database) -> Callable[[str], UniqueColumns]:
    """What tells it of a table by its name, without quotation marks. Names that hold a smaller key
    are left out: they say no more, and a run may have declared them."""
    declared_in = _declared_in(database)

    def unique_together(table: str) -> UniqueColumns:
        found = declared_in(table)
        keys = [set(names) for names in found or () if names]
        return found and [names for names in found if not any(key < set(names) for key in keys)]

    return unique_together


def _declared_in(database: Database) -> Callable[[str], UniqueColumns]:
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
    found += (names for origin, names in _unique_indexes(database, table) if origin == "u")
    return found


def unique_by_index(database: Database, table: str) -> list[list[str]]:
    """The columns of each `CREATE UNIQUE INDEX` of a table of SQLite. A run may make such an index,
    so that it says nothing of what must stay together."""
    if database.engine is not None:
        return []
    return [names for origin, names in _unique_indexes(database, table) if origin == "c"]


def _unique_indexes(database: Database, table: str) -> Iterator[tuple[str, list[str]]]:
    """Where each comes from, and its columns. One of some rows, or of an expression, is no key."""
    for _, index, is_unique, origin, is_partial in _pragma(database, "index_list", table):
        names = [name for _, _, name in _pragma(database, "index_info", index)]
        if is_unique and not is_partial and None not in names:
            yield origin, names


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
