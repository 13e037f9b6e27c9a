"""Runs a query: how long until the last row was here, and what the rows were."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from .connecting import Database
from .jobs import Answer
from .reading import Query
from .row_digest import AnswerDigest, Row
from .table_state import table_states

BATCH = 5_000
MAX_CELL_CHARS = 60


@dataclass
class Measured:
    """Some runs of one query.

    Attributes:
        answer: the rows of the first run.
        stable: all runs gave the same.
        times_ms: of each run that counts.
        first_rows: some of the first run's rows.
    """

    answer: Answer
    columns: list[str]
    stable: bool = True
    times_ms: list[float] = field(default_factory=list[float])
    first_rows: list[Row] = field(default_factory=list[Row])


def run_once(
    database: Database,
    query: Query,
    *,
    order_of: Query | Literal["rows"] | None = None,
    keep_rows: int = 0,
) -> tuple[float, Measured]:
    """Run it and fetch every row: the milliseconds that took, and the rows.

    The clock stands still while rows are hashed.

    Args:
        database: an open one.
        query: what to run.
        order_of: the query whose ORDER BY says which order counts; `rows` for the order of whole
            rows, None for none.
        keep_rows: how many rows to give back.

    Raises:
        TimeoutError: it was ended at the database's limit.
    """
    cursor = database.cursor()
    kept: list[Row] = []
    with database.time_limit():
        begun = time.perf_counter()
        cursor.execute(query.text)
        taken = time.perf_counter() - begun
        columns = [str(column[0]) for column in cursor.description or ()]
        order: list[int] | None = []
        if order_of != "rows":
            order = order_of.order(columns) if order_of else None
        digest = AnswerDigest(columns, order)
        while cursor.description:
            begun = time.perf_counter()
            rows = cursor.fetchmany(BATCH)
            taken += time.perf_counter() - begun
            if not rows:
                break
            digest.add(rows)
            kept += [tuple(row) for row in rows[: max(0, keep_rows - len(kept))]]
    if query.writes:
        # What it wrote is its answer, looked at before it is rolled back.
        changed = table_states(database, query.tables, full=True)
        digest.add([(name, state.rows, state.digest) for name, state in changed.items()])
        database.rollback()
    cursor.close()
    return taken * 1000, Measured(digest.answer(), columns, first_rows=kept)


def measure(
    database: Database,
    query: Query,
    *,
    runs: int,
    warmup: int,
    max_ms: float,
    order_of: Query | Literal["rows"] | None,
    keep_rows: int = 0,
) -> Measured:
    """Run it `warmup` times and then `runs` times, fewer where the median is sure to be too long.

    Raises:
        TimeoutError: a run was ended at the database's limit.
    """
    measured: Measured | None = None
    times: list[float] = []
    for number in range(warmup + runs):
        taken, found = run_once(database, query, order_of=order_of, keep_rows=keep_rows)
        if measured is None:
            measured = found
        elif not found.answer.same_as(measured.answer):
            measured.stable = False
        if number >= warmup:
            times.append(taken)
        too_long = sum(one >= max_ms for one in times)
        if max_ms and too_long > runs // 2:
            break
    assert measured is not None
    measured.times_ms = [round(one, 3) for one in times]
    return measured


def as_text(columns: list[str], rows: list[Row]) -> str:
    """Rows for the model, a line each."""
    lines = [" | ".join(columns)]
    lines += [" | ".join(str(value)[:MAX_CELL_CHARS] for value in row) for row in rows]
    return "\n".join(lines)
