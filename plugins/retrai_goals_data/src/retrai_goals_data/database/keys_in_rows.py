"""Keys that a table does not declare, but its rows have.

Tables that were imported often have no key in their definition. Queries rely on one all the same
(one reading of a station in one hour), and so do their honest rewrites: `LAG` in place of a
subquery, say. Where rows are changed to judge a query, those that repeat such a key are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from math import comb, prod
from typing import Any

from .connecting import Database
from .reading import quoted, unquoted
from .unique_columns import unique_by_index

Key = Sequence[str]
MAX_ROWS = 50_000
"""So many rows of a table are looked at."""
MAX_COLUMNS = 3
MAX_TRIED = 50
"""So many pairs of columns are tried, and so many triples."""
MIN_TIES = 20.0
"""So many pairs of rows would agree in all columns of a key if these were independent. That none
does has a probability of `exp(-20)` then (Poisson), for each key that is tried."""


def keys_in_rows(database: Database, table: str) -> list[Key]:
    """Two or three columns that are unique together in the rows, and hardly by chance; in SQLite
    also those of a unique index.

    Args:
        database: an open one.
        table: as it is written in SQL.

    Returns:
        Those that were found in rows hold no other. Empty where the database cannot say: a driver's
        own errors, or its time-out.
    """
    try:
        with closing(database.cursor()) as cursor, database.time_limit():
            return [*unique_by_index(database, unquoted(table)), *_keys(cursor, table)]
    except Exception:  # noqa: BLE001 - a driver's own errors
        database.rollback()
        return []


def _keys(cursor: Any, table: str) -> list[Key]:
    cursor.execute(f"SELECT * FROM {table} LIMIT 0")
    columns = [str(column[0]) for column in cursor.description]
    rows = f"(SELECT * FROM {table} LIMIT {MAX_ROWS}) AS t"
    cursor.execute(f"SELECT COUNT(*) FROM {rows}")
    pairs = comb(cursor.fetchall()[0][0], 2)
    ties = {name: _ties(cursor, rows, quoted(name)) for name in columns}
    repeating = [name for name, count in ties.items() if count]
    found: list[Key] = []
    for size in range(2, MAX_COLUMNS + 1):
        likely = [
            key
            for key in combinations(repeating, size)
            if pairs * prod(ties[name] / pairs for name in key) >= MIN_TIES
            and not any(set(known) <= set(key) for known in found)
        ]
        found += [key for key in likely[:MAX_TRIED] if _is_unique(cursor, rows, key)]
    return found


def _ties(cursor: Any, rows: str, column: str) -> int:
    """How many pairs of rows have one value; 0 where a value is NULL."""
    cursor.execute(
        "SELECT SUM(n * (n - 1) / 2), SUM(CASE WHEN c IS NULL THEN 1 ELSE 0 END) "
        f"FROM (SELECT {column} AS c, COUNT(*) AS n FROM {rows} GROUP BY {column}) AS g"
    )
    tied, nulls = (int(each or 0) for each in cursor.fetchall()[0])
    return 0 if nulls else tied


def _is_unique(cursor: Any, rows: str, key: Key) -> bool:
    columns = ", ".join(map(quoted, key))
    cursor.execute(f"SELECT 1 FROM {rows} GROUP BY {columns} HAVING COUNT(*) > 1 LIMIT 1")
    return not cursor.fetchall()
