"""Does one job for a database and answers; runs in a process of its own."""

from __future__ import annotations

import hashlib

from ..answering import answer_job
from .connecting import UnreachableError, opened
from .jobs import Job, Report

_STATE = """
SELECT 'index', schemaname || '.' || indexname, indexdef FROM pg_indexes
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
UNION ALL
SELECT 'table', relid::text || '.' || schemaname || '.' || relname,
       concat_ws(' ', n_tup_ins, n_tup_upd, n_tup_del, n_mod_since_analyze, last_analyze,
                 last_autoanalyze)
  FROM pg_stat_user_tables
UNION ALL
SELECT 'column', attrelid::text || '.' || attnum, attname || ' ' || atttypid::text
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
 WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace IN (
       SELECT oid FROM pg_namespace WHERE nspname NOT IN ('pg_catalog', 'information_schema')
       AND nspname NOT LIKE 'pg\\_t%') AND attnum > 0
UNION ALL
SELECT 'view', schemaname || '.' || viewname, definition FROM pg_views
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
UNION ALL
SELECT 'setting', setdatabase::text || '.' || setrole::text, setconfig::text FROM pg_db_role_setting
ORDER BY 1, 2, 3
"""


def main() -> None:
    """Read the job, do it, write the report."""
    answer_job(Job, lambda job, data: do(job))


def do(job: Job) -> Report:
    """The report; what goes wrong with the query or the database is its `problem`."""
    try:
        if job.kind == "reach":
            return _reach(job)
        if job.kind == "state":
            return _state(job)
        # The parser of SQL is a third of the time that a small check takes.
        from .judging_queries import run_job

        return run_job(job)
    except UnreachableError as error:
        return Report(problem=f"the database cannot be reached: {error}")
    except TimeoutError as error:
        return Report(problem=str(error))
    except Exception as error:  # noqa: BLE001 - every driver has errors of its own
        return Report(problem=" ".join(f"{type(error).__name__}: {error}".split())[:1000])


def _reach(job: Job) -> Report:
    with opened(job.target, timeout_s=job.timeout_s) as database, database.time_limit():
        database.cursor().execute("SELECT 1")
    return Report()


def _state(job: Job) -> Report:
    """A fingerprint of what can change the verdict on a server, by its own bookkeeping."""
    with opened(job.target, timeout_s=job.timeout_s) as database:
        cursor = database.cursor()
        cursor.execute(_STATE)
        text = repr(cursor.fetchall())
        return Report(fingerprint=hashlib.sha256(text.encode()).hexdigest())
