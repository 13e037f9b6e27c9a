"""The goal `sql-benchmark`: a query is fast enough, and gives the rows that it gave."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from retrai_core import CheckReport, GoalBase, GoalResult, RunContext, Suspicion
from retrai_goal_support import Trick, audit_lines

from .child import Child, ChildError
from .database.jobs import Job, Report, Target
from .dsn import Dsn
from .sql_first_answer import NAME, FirstAnswer
from .sql_judging import figures, judge
from .sql_options import SqlBenchmarkOptions
from .sql_prompt import prompt_for

MODULE = "retrai_goals_data.database.main"
MAX_QUERY_CHARS = 200_000
STATE_TIMEOUT_S = 30.0
LOOK_TIMEOUT_S = 400.0
NOT_SEEN = (
    "what the query gave at the start was not seen, so nothing can be compared with it; "
    "begin a new run now that it can be asked"
)
_WRITES = r"(?i)\b(delete\s+from|truncate|drop\s+table|update\s+\w+\s+set)\b"
TRICKS = (
    Trick(re.compile(r"(?i)\bcreate\s+(materialized\s+view|table)\b"), "makes a table"),
    Trick(re.compile(_WRITES), "writes"),
    Trick(re.compile(r"(?i)\bvalues\s*\(|\bunion\s+all\s+select\s+['\d]"), "holds rows of its own"),
)


class SqlBenchmark(GoalBase[SqlBenchmarkOptions]):
    """A query on SQLite, DuckDB or PostgreSQL answers in under `max_ms`, with the same rows."""

    name: ClassVar[str] = "sql-benchmark"
    summary: ClassVar[str] = "a query is fast enough and gives the same rows"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run", "network"})
    default_tools: ClassVar[Sequence[str]] = (*GoalBase.default_tools, "sql_bench")
    protects: ClassVar[str] = "the data files, the seeds and the benchmarks"

    def __init__(self, options: SqlBenchmarkOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self.dsn = Dsn.parse(self.options.dsn)
        if self.dsn.dialect != "postgresql":
            # A database in a file needs no network, and its run gets none.
            vars(self)["needs"] = type(self).needs - {"network"}

    async def ready(self) -> str | None:
        missing = self.dsn.missing_driver()
        if missing:
            return missing
        project = self.context.project
        try:
            target = self.target(project)
            if target.path and not await asyncio.to_thread(os.path.isfile, target.path):
                return f"dsn: there is no database file {target.path}"
            await asyncio.to_thread(self._query_text, project)
        except ValueError as error:
            return str(error)
        job = Job(kind="reach", target=target, timeout_s=self.options.timeout_s)
        try:
            report = await self.ask(job, STATE_TIMEOUT_S, self.context.project)
        except ChildError as error:
            return f"the database {self.dsn.shown} cannot be asked: {error}"
        return f"dsn: {self.dsn.shown}: {report.problem}" if report.problem else None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        place = self.context.run_dir / NAME
        first = await asyncio.to_thread(FirstAnswer.load, place)
        try:
            text = await asyncio.to_thread(self._query_text, cwd)
            job = self._check_job(self.target(cwd), text)
        except ValueError as error:
            return self._incomplete(str(error))
        job.original = first.query if first else text
        job.known = first.answer if first else None
        job.changed_copy = cwd != self.context.project
        at_baseline = not state and cwd == self.context.project
        job.profile_tables = self.options.profile_tables if at_baseline else []
        # A run of each, the samples, and a look at all rows of the tables.
        limit_s = self.options.timeout_s * (job.runs + job.warmup + 4) + LOOK_TIMEOUT_S
        try:
            report = await self.ask(job, limit_s, cwd)
        except ChildError as error:
            report = Report(problem=f"the query was not measured: {error}")
        if report.foreign:
            return self._refused(
                f"it reads {', '.join(report.foreign)}, which it did not read at the start; the "
                "user can allow a table with `extra_tables`"
            )
        if first is None:
            # Kept whatever came of it: what stands here later may be the agent's doing.
            seen = report.tables if report.answer or report.plan else None
            first = FirstAnswer(query=text, tables=seen, answer=report.answer)
            await asyncio.to_thread(first.save, place)
        elif first.answer is None and report.answer and first.tables == report.tables:
            # At first it took too long to be known; the tables tell that nothing has changed since.
            first.answer = report.original_answer or report.answer
            await asyncio.to_thread(first.save, place)
        if report.problem or report.answer is None:
            plan = report.plan if self.options.explain else ""
            told = "\n\n".join(filter(None, [plan, _statistics(report)]))
            return self._incomplete(report.problem or "no answer", told)
        if first.tables is None or first.answer is None:
            return self._incomplete(NOT_SEEN)
        options = self.options
        verdict = judge(report, first.answer, first.tables, options.max_ms, options.allow_redefined)
        if options.expected_rows is not None:
            verdict.expect_rows(options.expected_rows, report.answer.rows)
        plan = f"Plan of {self.dsn.dialect}:\n{report.plan}" if options.explain else ""
        told = [figures(report.times_ms, self.options.max_ms), plan, _statistics(report)]
        details = "\n\n".join(filter(None, [*verdict.details, *told]))
        report_of_cases = CheckReport(verdict.cases, self._command())
        return GoalResult(verdict.achieved, verdict.reason, details, report_of_cases)

    def system_prompt(self) -> str:
        return prompt_for(self.options, self.dsn)

    def protected(self, project: Path) -> Sequence[str]:
        return (*self.options.data_files, "seed*.sql", "seeds/", "benchmarks/")

    async def external_state(self, project: Path) -> str:
        path = self.dsn.file(self.context.project, project)
        if path is not None:
            return await asyncio.to_thread(_file_state, path)
        if self.dsn.dialect != "postgresql":
            return ""
        try:
            job = Job(kind="state", target=self.target(project), timeout_s=STATE_TIMEOUT_S)
            report = await self.ask(job, STATE_TIMEOUT_S, self.context.project)
        except (ChildError, ValueError) as error:
            return str(error)
        return report.fingerprint or report.problem

    def audit(self, diff: str) -> Sequence[Suspicion]:
        return audit_lines(diff, TRICKS, is_source=lambda path: path.endswith(".sql"))

    def target(self, folder: Path) -> Target:
        """The database, as it is opened for the tree in `folder`.

        Raises:
            ValueError: a variable in the address is not set.
        """
        return self.dsn.target(self.context.project, folder, files=bool(self.options.data_files))

    async def ask(self, job: Job, timeout_s: float, folder: Path) -> Report:
        """Have the measuring process do a job.

        Args:
            job: what to do.
            timeout_s: for the whole of it.
            folder: the project or a copy, where DuckDB looks for files that a query names.

        Raises:
            ChildError: it gave no answer.
        """
        readable = [Path(job.target.path).parent] if job.target.path else []
        child = Child(MODULE, timeout_s, readable=readable)
        return await child.run(self.context.sandbox, job, Report, cwd=folder)

    def _check_job(self, target: Target, text: str) -> Job:
        options = self.options
        return Job(
            kind="check",
            target=target,
            query=text,
            extra_tables=options.extra_tables,
            runs=options.runs,
            warmup=options.warmup,
            max_ms=options.max_ms,
            timeout_s=options.timeout_s,
            ordered={"auto": None, "yes": True, "no": False}[options.order],
            allow_writes=options.allow_writes,
            full_data=options.data_check == "rows",
            salt=hashlib.sha256(self.context.run_id.encode()).hexdigest()[:12],
        )

    def _query_text(self, folder: Path) -> str:
        if self.options.query:
            return self.options.query
        path = folder / self.options.query_file
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
            raise ValueError(f"query_file {self.options.query_file}: {why}") from error
        if len(text) > MAX_QUERY_CHARS:
            raise ValueError(f"query_file {self.options.query_file} is larger than a query")
        return text

    def _command(self) -> list[str]:
        return ["retrai", "sql-benchmark", self.dsn.shown]

    def _incomplete(self, problem: str, details: str = "") -> GoalResult:
        line = " ".join(problem.split())
        report = CheckReport({}, self._command(), complete=False)
        return GoalResult(False, line, f"{line}\n\n{details}".strip(), report)

    def _refused(self, problem: str) -> GoalResult:
        report = CheckReport({"only the tables of the start are read": "failed"}, self._command())
        return GoalResult(False, problem, problem, report)


def _statistics(report: Report) -> str:
    return f"Statistics:\n{report.profile}" if report.profile else ""


def _file_state(path: Path) -> str:
    """Size and time of a database file and of its log: they change with every write."""
    parts: list[str] = []
    for name in (path, Path(f"{path}-wal"), Path(f"{path}.wal")):
        try:
            found = name.stat()
        except OSError:
            continue
        if found.st_size:
            parts.append(f"{found.st_size}.{found.st_mtime_ns}")
    return " ".join(parts) or "missing"
