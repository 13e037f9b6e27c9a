"""The tool `sql_bench`: how long a query takes, how the database goes about it, its first rows."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import ClassVar

from pydantic import Field, field_validator

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult
from retrai_goal_support import shorten

from .child import Child, ChildError
from .database.jobs import Job, Report, Target
from .dsn import Dsn
from .sql_goal import MODULE, SqlBenchmark

START_S = 20.0


class SqlBenchOptions(ToolOptions):
    """Which database, and what it may do there."""

    dsn: str = Field(default="", json_schema_extra={"runs": True})
    """The database. Default: that of the goal `sql-benchmark`, and files of the project."""
    timeout_s: float = Field(default=60.0, gt=0)
    """Maximum seconds for one run of a query."""
    max_runs: int = Field(default=20, ge=1)
    """Maximum number of runs that one call can ask for."""
    allow_indexes: bool = False
    """Whether CREATE INDEX, DROP INDEX and ANALYZE are allowed; for its own database the goal's
    option decides."""
    allow_writes: bool = False
    """Whether a query may write; each run is rolled back."""

    @field_validator("dsn")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        if value:
            Dsn.parse(value)
        return value


class SqlBenchArgs(ToolArgs):
    """What to measure."""

    query: str = Field(min_length=1, description="one SQL statement")
    database: str = Field(
        default="",
        description="a SQLite or DuckDB file of the project; the goal's database when left out",
    )
    runs: int = Field(default=3, ge=1, description="how often it is measured, after a warm-up")
    rows: int = Field(default=5, ge=0, le=100, description="how many rows of the answer to show")


class SqlBench(Tool[SqlBenchArgs, SqlBenchOptions]):
    """Measures a query in a process of retrai's own."""

    name: ClassVar[str] = "sql_bench"
    description: ClassVar[str] = (
        "Run a query and say how long it takes (every row fetched, median of several runs), the "
        "database's plan for it (EXPLAIN), how many rows it gives, and the first of them. It only "
        "reads; CREATE INDEX, DROP INDEX and ANALYZE run too where the user allows indexes."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run", "network"})

    def __init__(self, options: SqlBenchOptions, context: RunContext) -> None:
        super().__init__(options, context)
        goal = context.goal_part if context else None
        of_goal = goal.dsn if isinstance(goal, SqlBenchmark) else None
        dsn = Dsn.parse(options.dsn) if options.dsn else of_goal
        if dsn is None or dsn.dialect != "postgresql":
            # A database in a file needs no network, and its run gets none.
            vars(self)["needs"] = type(self).needs - {"network"}

    def summary(self, args: SqlBenchArgs) -> str:
        return " ".join(args.query.split())[:100]

    async def run(self, args: SqlBenchArgs, context: RunContext) -> ToolResult:
        options = self.options
        goal = context.goal_part if isinstance(context.goal_part, SqlBenchmark) else None
        indexes = options.allow_indexes
        if args.database:
            target = await asyncio.to_thread(_file_of, args.database, context)
        elif options.dsn:
            target = _filled(Dsn.parse(options.dsn), context.project)
        elif goal is not None:
            target = _filled(goal.dsn, context.project, files=bool(goal.options.data_files))
            indexes = indexes or goal.options.allow_indexes
        else:
            raise ToolError("name a database file of the project in `database`")
        runs = min(args.runs, options.max_runs)
        job = Job(
            kind="bench",
            target=target,
            query=args.query,
            runs=runs,
            timeout_s=options.timeout_s,
            allow_writes=options.allow_writes,
            allow_indexes=indexes,
            show_rows=args.rows,
        )
        folders = [Path(target.path).parent] if target.path else []
        child = Child(
            MODULE,
            options.timeout_s * (runs + 2) + START_S,
            readable=folders,
            writable=folders if indexes or options.allow_writes else (),
        )
        try:
            report = await child.run(context.sandbox, job, Report, cwd=context.project)
        except ChildError as error:
            raise ToolError(f"the query was not measured: {error}") from error
        return _result(report, options.max_chars)


def _file_of(path: str, context: RunContext) -> Target:
    """A file of the project as a database; the workspace refuses what lies outside."""
    entry = context.workspace.stat(path)
    if entry is None or entry.kind != "file":
        what = "no file" if entry is None else f"a {entry.kind}"
        raise ToolError(f"{path} is {what}; name a SQLite or DuckDB file of the project")
    head = context.workspace.read_bytes(path, 16)
    whole = context.project / entry.path
    if head.startswith(b"SQLite format 3"):
        return Target("sqlite", path=str(whole))
    if head[8:12] == b"DUCK":
        return Target("duckdb", path=str(whole))
    raise ToolError(f"{path} is neither a SQLite nor a DuckDB database")


def _filled(dsn: Dsn, project: Path, *, files: bool = False) -> Target:
    try:
        return dsn.target(project, project, files=files)
    except ValueError as error:
        raise ToolError(str(error)) from error


def _result(report: Report, max_chars: int) -> ToolResult:
    names = ("times_ms", "plan", "answer", "problem", "changed_ms")
    data = {name: value for name, value in asdict(report).items() if name in names}
    if report.problem:
        text = f"{report.problem}\n\n{report.plan}".strip()
        return ToolResult(shorten(text, max_chars), ok=False, data=data)
    if report.changed_ms is not None or report.answer is None:
        return ToolResult(f"done in {report.changed_ms or 0.0:.1f} ms", data=data)
    times = ", ".join(f"{one:.2f}" for one in report.times_ms)
    rows = f"{report.answer.rows} {'row' if report.answer.rows == 1 else 'rows'}"
    parts = [
        f"median {median(report.times_ms):.2f} ms ({times}); {rows}"
        + ("" if report.stable else ", others from run to run"),
        f"Plan:\n{report.plan}",
    ]
    if report.shown:
        parts.append(f"First rows:\n{report.shown}")
    return ToolResult(shorten("\n\n".join(parts), max_chars), data=data)
