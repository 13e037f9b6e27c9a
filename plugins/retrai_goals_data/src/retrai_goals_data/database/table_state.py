"""What a table holds, in few enough bytes to be kept and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .connecting import LOOK_TIMEOUT_S, Database
from .definitions import definitions
from .jobs import TableState
from .row_digest import SUMS, row_number

BATCH = 5_000

_IN_THE_DATABASE = {
    # The sum of the rows' own hashes does not depend on their order.
    "postgresql": "SELECT count(*), sum(hashtextextended(t::text, 0)::numeric)::text FROM {} AS t",
    "duckdb": "SELECT count(*), sum(hash(t)::HUGEINT)::VARCHAR FROM {} AS t",
}


def table_states(
    database: Database, tables: Mapping[str, str], *, full: bool
) -> dict[str, TableState]:
    """The state of each table.

    Args:
        database: an open one.
        tables: names as SQL, by the names to give back.
        full: hash every row; else rows are only counted.
    """
    found: dict[str, TableState] = {}
    for name, sql in tables.items():
        cursor = database.cursor()
        cursor.execute(f"SELECT * FROM {sql} LIMIT 0")
        columns = [(str(column[0]), _type_of(database, column)) for column in cursor.description]
        with database.time_limit(LOOK_TIMEOUT_S):
            rows, digest = _rows_and_digest(database, cursor, sql, full)
        found[name] = TableState(columns, rows, digest, definitions(database, sql))
    return found


def _type_of(database: Database, column: Any) -> str:
    # SQLite's values have types, and its columns none that matter here.
    return "" if database.dialect == "sqlite" else str(column[1])


def _rows_and_digest(database: Database, cursor: Any, table: str, full: bool) -> tuple[int, str]:
    """The number of rows and a digest of them; `table` is a name as SQL."""
    if not full:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0], ""
    if database.dialect in _IN_THE_DATABASE:
        cursor.execute(_IN_THE_DATABASE[database.dialect].format(table))
        rows, total = cursor.fetchone()
        return rows, str(total or 0)
    cursor.execute(f"SELECT * FROM {table}")
    rows = total = 0
    while batch := cursor.fetchmany(BATCH):
        rows += len(batch)
        total += sum(map(row_number, batch))
    return rows, f"{total % SUMS:032x}"
