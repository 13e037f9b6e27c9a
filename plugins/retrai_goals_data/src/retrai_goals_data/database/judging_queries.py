"""Measures a query, and holds a rewritten one against the original."""

from __future__ import annotations

import time
from typing import Literal

from .changed_copy import compare_on_changed_copy
from .connecting import Database, opened
from .jobs import Job, Report
from .measuring import as_text, measure, run_once
from .plans import explain
from .profiles import profile
from .reading import Query, QueryError, read_query, require_reading
from .samples import MAX_COMPARED, compare_on_samples, difference
from .table_state import table_states
from .written_down import written_down


def run_job(job: Job) -> Report:
    """The report of a `check` or a `bench`; what is wrong with the query is its `problem`."""
    try:
        return _measure(job)
    except QueryError as error:
        return Report(problem=str(error))


def _change(job: Job, query: Query) -> Report:
    with opened(job.target, timeout_s=job.timeout_s, write=True, autocommit=True) as database:
        cursor = database.cursor()
        begun = time.perf_counter()
        with database.time_limit():
            cursor.execute(query.text)
        return Report(changed_ms=(time.perf_counter() - begun) * 1000)


def _measure(job: Job) -> Report:
    query = read_query(job.query, job.target.dialect)
    if job.kind == "bench" and job.allow_indexes and query.is_index:
        return _change(job, query)
    require_reading(query, job.allow_writes)
    writes = query.writes
    with opened(job.target, timeout_s=job.timeout_s, write=writes) as database:
        report = Report(profile=profile(database, job.profile_tables))
        original = query
        if job.kind == "check":
            original = read_query(job.original or job.query, job.target.dialect)
            _look_at_tables(database, job, original, query, report)
            if report.foreign:
                return report
        try:
            measured = measure(
                database,
                query,
                runs=job.runs,
                warmup=job.warmup,
                max_ms=job.max_ms,
                order_of=_order_of(job, original),
                keep_rows=job.show_rows,
            )
        except TimeoutError as error:
            # What was found until now is of use: the tables, and why it takes so long.
            report.problem = f"the query: {error}"
            return report
        finally:
            database.rollback()
            report.plan = explain(database, query)
        report.answer, report.stable = measured.answer, measured.stable
        report.times_ms = measured.times_ms
        if job.show_rows:
            report.shown = as_text(measured.columns, measured.first_rows)
        if job.kind == "check" and query.text != original.text:
            _compare(database, job, original, query, report)
        return report


def _order_of(job: Job, original: Query) -> Query | Literal["rows"] | None:
    """What the order of the rows is read from: the first query's ORDER BY, unless options say."""
    if job.ordered is None:
        return original
    return "rows" if job.ordered else None


def _look_at_tables(
    database: Database, job: Job, original: Query, query: Query, report: Report
) -> None:
    extra = {name: '"' + name.replace(".", '"."') + '"' for name in job.extra_tables}
    known = {**extra, **original.tables}
    report.foreign = sorted({*query.tables, *query.files} - {*known, *original.files})
    report.tables = table_states(database, known, full=job.full_data)


def _compare(database: Database, job: Job, original: Query, query: Query, report: Report) -> None:
    """Hold a rewritten query against the original: on the data as it is, then on samples."""
    assert report.answer is not None
    expected = job.known
    if expected is None or not report.answer.same_as(expected):
        # It is asked once more, to show how the rows differ.
        order_of = _order_of(job, original)
        try:
            _, right = run_once(database, original, order_of=order_of, keep_rows=MAX_COMPARED)
        except TimeoutError as error:
            report.problem = f"the query of the start, whose rows are not known yet: {error}"
            return
        _, found = run_once(database, query, order_of=order_of, keep_rows=MAX_COMPARED)
        report.original_answer = right.answer
        if not report.answer.same_as(right.answer):
            report.difference = difference(right, found)
            return
    if query.writes or original.writes:
        report.not_sampled = "the query writes"
        return
    _, asked = run_once(database, query, keep_rows=MAX_COMPARED)
    told = written_down(original.literals, query.literals, asked.first_rows)
    if told:
        report.samples_differ = told
        return
    sizes = {name: state.rows for name, state in report.tables.items()}
    compared = compare_on_samples(database, original, query, sizes, job.salt)
    report.samples_differ, report.not_sampled = compared.differ, compared.not_tried
    if job.changed_copy and job.target.path and not compared.differ:
        found = compare_on_changed_copy(job.target, original, query, sizes, job.salt, job.max_ms)
        report.samples_differ = found.differ
