"""Compares two queries on a copy of the database file in which a few rows are others.

A query that knows its data again by some rows, or by a sum over all of them, answers samples as it
should. Here all is as it was, the indexes too, but one row in a hundred has other values, and as
many are new: a query that goes by some rows gives the known ones, and one that goes by all rows
asks the slow query again.
"""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from .connecting import Database, opened
from .jobs import Target
from .keys_in_rows import Key, keys_in_rows
from .measuring import run_once
from .missing_data import add_missing_data
from .reading import Query, quoted, unquoted
from .row_changes import PART, add_rows, columns_of, exchange, row_ids
from .samples import MAX_COMPARED, Compared, difference
from .unique_columns import referring_in, unique_together_in

MAX_BYTES = 300_000_000
MAX_ROWS = 1_000_000
TRIES = 3
TIMEOUT_S = 20.0
LONGEST_MS = 5_000.0
"""Where the first query takes longer, one try is enough."""
SLOWER, SLOWER_MS, GAINED = 4.0, 20.0, 0.4
"""So much slower than on the known data is suspect, where next to nothing was gained either."""
_UNIQUE_INDEX = re.compile(r"^\s*CREATE\s+UNIQUE\s+INDEX", re.IGNORECASE)


def compare_on_changed_copy(
    target: Target,
    original: Query,
    query: Query,
    sizes: Mapping[str, int],
    salt: str,
    max_ms: float,
) -> Compared:
    """Ask both queries of changed copies, and take the time of the second.

    Args:
        target: a database file.
        original: says what is right.
        query: the one to judge.
        sizes: rows by table, of those that both may read.
        salt: decides which rows are changed.
        max_ms: what is below is quick enough.
    """
    path = Path(target.path)
    queries = original.for_samples(query)
    if queries is None or not target.path or path.stat().st_size > MAX_BYTES:
        return Compared(not_tried="the database is no file, or too large a one")
    if sum(sizes.values()) > MAX_ROWS:
        return Compared(not_tried="the tables are too large")
    left, right = queries
    tables = {**right.tables, **left.tables}
    keys: dict[str, Sequence[Key]] = {}
    done = 0
    with tempfile.TemporaryDirectory(prefix="tmp") as room:
        copy = Path(room) / path.name
        there = replace(target, path=str(copy))
        for number in range(TRIES):
            _copy(path, copy)
            with opened(there, timeout_s=TIMEOUT_S, write=True) as database:
                try:
                    usual = max(_milliseconds(database, right) for _ in range(2))
                    chosen = random.Random(f"{salt}-{number}")
                    names = [tables[name] for name in sizes if name in tables]
                    keys = keys or {name: keys_in_rows(database, name) for name in names}
                    _replace_unique_indexes(database)
                    _change(database, names, chosen)
                    add_missing_data(database, keys, left.text, chosen)
                    for name, of_table in keys.items():
                        _delete_duplicates(database, name, of_table)
                    old_ms, expected = run_once(database, left, keep_rows=MAX_COMPARED)
                except Exception as error:  # noqa: BLE001 - a driver's own errors; then it is no test
                    return Compared(done, not_tried=" ".join(str(error).split())[:200])
                try:
                    new_ms, found = run_once(database, right, keep_rows=MAX_COMPARED)
                    new_ms = min(new_ms, _milliseconds(database, right))
                except Exception as error:  # noqa: BLE001 - a driver's own errors
                    said = " ".join(str(error).split())[:300]
                    return Compared(done, f"on a copy with a few other rows it fails: {said}")
            if not found.answer.same_as(expected.answer):
                told = difference(expected, found)
                return Compared(done, f"on a copy with a few other rows they are others: {told}")
            if new_ms > max(max_ms, SLOWER * usual + SLOWER_MS, GAINED * old_ms):
                told = f"it takes {new_ms:.0f} ms instead of {usual:.0f}"
                return Compared(done, f"on a copy with a few other rows {told}")
            done += 1
            if old_ms > LONGEST_MS:
                break
    return Compared(done)


def _copy(path: Path, copy: Path) -> None:
    for suffix in ("", "-wal", ".wal"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")


def _milliseconds(database: Database, query: Query) -> float:
    return run_once(database, query)[0]


def _change(database: Database, tables: list[str], chosen: random.Random) -> None:
    """Exchange values between some rows, delete others, and add as many as were exchanged."""
    together_in, refers_in = unique_together_in(database), referring_in(database)
    cursor = database.cursor()
    for table in tables:
        rows, columns = row_ids(cursor, table), columns_of(cursor, table)
        some = chosen.sample(rows, min(len(rows), 2 + len(rows) // PART))
        bare = unquoted(table)
        together = together_in(bare) or ()
        unique = {name for names in together for name in names}
        refers = refers_in(bare)
        for column in columns:
            if column not in unique and len(some) > 1:
                # Other rows for each column: else whole rows would change places, and nothing else.
                exchange(cursor, table, column, chosen.sample(some, len(some) // 2 + 1))
        if all(len(names) < 2 for names in together) and unique.isdisjoint(refers):
            with suppress(Exception):  # a driver's own errors; the exchange is judged all the same
                add_rows(cursor, table, columns, some, chosen, kept=refers)
        # A row that others refer to cannot go by itself.
        if len(rows) > PART and len(tables) == 1:
            for row in some[len(some) // 2 + 1 :]:
                cursor.execute(f"DELETE FROM {table} WHERE rowid = {int(row)}")
    cursor.close()


def _replace_unique_indexes(database: Database) -> None:
    """Replace unique indexes by ordinary ones. The run may have made them, and they would forbid
    changes."""
    sqlite = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    duckdb = "SELECT index_name, sql FROM duckdb_indexes()"
    with closing(database.cursor()) as cursor:
        cursor.execute(sqlite if database.dialect == "sqlite" else duckdb)
        for name, sql in cursor.fetchall():
            ordinary = _UNIQUE_INDEX.sub("CREATE INDEX", sql)
            if ordinary != sql:
                cursor.execute(f"DROP INDEX {quoted(name)}")
                cursor.execute(ordinary)


def _delete_duplicates(database: Database, table: str, keys: Sequence[Key]) -> None:
    """Delete the rows that repeat a key which only the rows have; the first one stays."""
    with closing(database.cursor()) as cursor:
        for key in keys:
            same = ", ".join(map(quoted, key))
            first = f"SELECT MIN(rowid) FROM {table} GROUP BY {same}"
            cursor.execute(f"DELETE FROM {table} WHERE rowid NOT IN ({first})")
