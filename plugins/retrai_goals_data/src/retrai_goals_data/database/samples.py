"""Compares two queries on samples of the data, to tell a rewrite from an answer written down.

Rows that were there at the start do not prove that a query still asks the same: it may hold the
answer, or rely on what happens to be so in this data. So both are asked again of temporary tables
that stand in the place of the real ones (an unqualified name means the temporary table first, in
all three databases) and hold some of their rows: first as they are, then with the values of each
column dealt out anew. Columns that are unique together stay together, so that keys stay keys; rows
that repeat a key which the table does not declare are left out. At last all rows are taken, dealt
out anew: a query that looks how many there are, or at their sum, to know this data again, takes
that for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5

from .connecting import Database
from .keys_in_rows import Key, keys_in_rows
from .measuring import Measured, as_text, run_once
from .reading import Query, quoted, unquoted
from .row_digest import Row, row_text
from .unique_columns import unique_together_in

MAX_ROWS = 1_500
MOST = 0.7
"""Of a table so many rows are taken, or this part of them, whichever is less."""
MAX_WHOLE = 100_000
"""Tables of so many rows together are also taken whole, with their values dealt out anew."""
WANTED = 3
TRIES = 6
TIMEOUT_S = 20.0
MAX_COMPARED = 100_000
SHOWN = 3


@dataclass(frozen=True)
class Compared:
    """How it went.

    Attributes:
        samples: on how many samples with rows in the answer both answered.
        differ: how they differ; empty where they do not.
        not_tried: why nothing could be compared; empty where something was.
    """

    samples: int = 0
    differ: str = ""
    not_tried: str = ""


def compare_on_samples(
    database: Database,
    original: Query,
    query: Query,
    sizes: Mapping[str, int],
    salt: str,
) -> Compared:
    """Ask both queries of samples of the tables that they read.

    Args:
        database: an open one; it gets temporary tables and nothing else.
        original: says what is right.
        query: the one to judge.
        sizes: rows by table, of those that both may read.
        salt: decides which rows are taken.
    """
    queries = original.for_samples(query)
    if queries is None:
        return Compared(not_tried="a LIMIT inside the query leaves open which rows are meant")
    left, right = queries
    if left.qualifies or right.qualifies:
        return Compared(not_tried="a query names the schema of its tables")
    if not sizes:
        return Compared(not_tried="the query reads no table")
    tables = {**right.tables, **left.tables}
    database.timeout_s = TIMEOUT_S
    if database.dialect == "sqlite":
        database.driver.create_function("md5", 1, _md5, deterministic=True)
    wanted = [
        _Table(sql, sizes[name], keys_in_rows(database, sql))
        for name, sql in tables.items()
        if name in sizes
    ]
    found = _compare(database, left, right, wanted, salt)
    if found.differ or found.samples == WANTED:
        return found
    # Where sums must be large, say, few samples are large enough.
    lower = left.with_lower_bounds(right)
    if lower is None:
        return found
    more = _compare(database, *lower, wanted, salt)
    return more if more.samples or more.differ else found


def _compare(
    database: Database,
    left: Query,
    right: Query,
    tables: Sequence[_Table],
    salt: str,
) -> Compared:
    done = 0
    problem = "no sample gave any rows"
    for number in range(TRIES):
        sample = _sample(tables, number, is_last=done == WANTED - 1)
        try:
            _fill(database, sample, f"{salt}-{number}")
            _, expected = run_once(database, left, keep_rows=MAX_COMPARED)
        except Exception as error:  # noqa: BLE001 - a driver's own errors; then this one is no test
            database.rollback()
            problem = f"no sample could be made: {' '.join(str(error).split())[:200]}"
            continue
        if expected.answer.rows == 0:
            continue
        differ = _differs(database, right, expected, sample)
        if differ:
            return Compared(done, differ)
        done += 1
        if done == WANTED:
            break
    return Compared(done, not_tried="" if done else problem)


@dataclass(frozen=True)
class _Table:
    """A table that both queries read.

    Attributes:
        sql: how it is written in SQL.
        size: its number of rows.
        keys: those that only its rows have.
    """

    sql: str
    size: int
    keys: Sequence[Key]


@dataclass(frozen=True)
class _Sample:
    """Which rows are taken.

    Attributes:
        tables: each with the part of it that is taken; all of it at 1.
        dealt: whether the values of each column are dealt out anew.
    """

    tables: Sequence[tuple[_Table, float]]
    dealt: bool


def _sample(tables: Sequence[_Table], number: int, *, is_last: bool) -> _Sample:
    """The second and fourth are dealt out, and the last that is wanted is whole where it can be."""
    if is_last and sum(table.size for table in tables) <= MAX_WHOLE:
        return _Sample([(table, 1.0) for table in tables], dealt=True)
    parts = [(table, min(MOST, MAX_ROWS / max(1, table.size))) for table in tables]
    return _Sample(parts, dealt=number % 2 == 1)


def _differs(database: Database, query: Query, expected: Measured, sample: _Sample) -> str:
    """How a query answers otherwise than expected; empty where it does not."""
    try:
        _, found = run_once(database, query, keep_rows=MAX_COMPARED)
    except Exception as error:  # noqa: BLE001 - a driver's own errors
        return f"on a sample of the data it fails: {' '.join(str(error).split())[:300]}"
    if found.answer.same_as(expected.answer):
        return ""
    how = "dealt-out " if sample.dealt else ""
    told = difference(expected, found)
    return f"on a sample of the {how}data the rows are others: {told}"


def difference(expected: Measured, found: Measured) -> str:
    """How two answers differ, by example: by the rows that were kept of them."""
    columns, wanted, there = expected.columns, expected.first_rows, found.first_rows
    if columns != found.columns:
        return f"the columns are {', '.join(found.columns)}; expected: {', '.join(columns)}"
    missing, extra = _only_in(wanted, there), _only_in(there, wanted)
    parts = [f"{len(there)} rows, expected {len(wanted)}"] if len(there) != len(wanted) else []
    if missing:
        parts.append(f"missing:\n{as_text(columns, missing[:SHOWN])}")
    if extra:
        parts.append(f"not expected:\n{as_text(columns, extra[:SHOWN])}")
    return "\n".join(parts) or "the same rows in another order"


def _only_in(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """The rows that are not among others, or not as often, each once."""
    more = Counter(map(row_text, rows)) - Counter(map(row_text, others))
    return list({text: row for row in rows if (text := row_text(row)) in more}.values())


def _fill(database: Database, sample: _Sample, salt: str) -> None:
    together_in = unique_together_in(database)
    # Takes away the temporary tables of the sample before.
    database.rollback()
    cursor = database.cursor()
    on_server = database.dialect == "postgresql"
    if on_server:
        cursor.execute("SET TRANSACTION READ WRITE")
    for table, part in sample.tables:
        cursor.execute(f"SELECT * FROM {table.sql} LIMIT 0")
        columns = [str(column[0]) for column in cursor.description]
        groups = _units(together_in(unquoted(table.sql)), columns) if sample.dealt else [columns]
        rows = _selection(table.sql, columns, groups, salt, part)
        if sample.dealt:
            rows = _without_duplicates(rows, columns, table.keys)
        cursor.execute(f"CREATE TEMP TABLE {table.sql} AS {rows}")
    if on_server:
        # Only temporary tables were to be written, and they have been.
        cursor.execute("SET TRANSACTION READ ONLY")
    cursor.close()


def _selection(
    table: str, columns: Sequence[str], groups: Sequence[Sequence[str]], salt: str, part: float
) -> str:
    threshold = f"{int(part * 0xFFFFFFFF):08x}" if part < 1 else "g"  # beyond every digit
    mixed = "md5(CAST({} AS VARCHAR(20)) || '{}')"
    numbered = f"SELECT t.*, row_number() OVER () AS retrai_row FROM {table} AS t"
    key = mixed.format("retrai_row", salt)
    sample = f"SELECT * FROM ({numbered}) AS n WHERE {key} < '{threshold}'"
    parts: list[str] = []
    for number, group in enumerate(groups):
        order = mixed.format("retrai_row", f"{salt}-{number}") if len(groups) > 1 else "retrai_row"
        names = ", ".join(quoted(column) for column in group)
        parts.append(
            f"(SELECT {names}, row_number() OVER (ORDER BY {order}) AS retrai_place "
            f"FROM retrai_sample) AS g{number}"
        )
    place = {column: number for number, group in enumerate(groups) for column in group}
    listed = ", ".join(f"g{place[column]}.{quoted(column)}" for column in columns)
    joined = "".join(
        f" JOIN {sql} ON g{number}.retrai_place = g0.retrai_place"
        for number, sql in enumerate(parts)
        if number
    )
    return f"WITH retrai_sample AS ({sample}) SELECT {listed} FROM {parts[0]}{joined}"


def _without_duplicates(rows: str, columns: Sequence[str], keys: Sequence[Key]) -> str:
    """A selection without the rows that repeat a key."""
    names = ", ".join(map(quoted, columns))
    for key in keys:
        same = ", ".join(map(quoted, key))
        numbered = (
            f"SELECT k.*, row_number() OVER (PARTITION BY {same}) AS retrai_same FROM ({rows}) AS k"
        )
        rows = f"SELECT {names} FROM ({numbered}) AS n WHERE retrai_same = 1"
    return rows


def _units(unique: Sequence[Sequence[str]] | None, columns: Sequence[str]) -> list[list[str]]:
    """The columns, those together that are unique together; the order within does not matter."""
    if unique is None:
        return [list(columns)]
    together: list[set[str]] = []
    for names in unique:
        group = set(names)
        joined = [other for other in together if other & group]
        together = [other for other in together if not other & group]
        together.append(group.union(*joined))
    units = [[column for column in columns if column in group] for group in together]
    units += [[column] for column in columns if not any(column in group for group in together)]
    return [unit for unit in units if unit]


def _md5(value: object) -> str:
    return md5(str(value).encode(), usedforsecurity=False).hexdigest()
