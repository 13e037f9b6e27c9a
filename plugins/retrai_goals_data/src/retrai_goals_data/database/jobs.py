"""What the measuring process is asked, and what it answers.

Plain dataclasses: in that process the import of Pydantic would take longer than a small check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Dialect = Literal["sqlite", "duckdb", "postgresql"]


@dataclass
class Target:
    """A database.

    Attributes:
        dialect: which kind it is.
        path: of a SQLite or DuckDB file; empty for one in memory and for a server.
        url: of a server, for SQLAlchemy, with the driver and the password.
        files: whether DuckDB may read files that a query names.
    """

    dialect: Dialect
    path: str = ""
    url: str = ""
    files: bool = False


@dataclass
class Answer:
    """The rows of a query as digests, which are alike where the rows are.

    Attributes:
        columns: their names.
        rows: how many.
        content: digests of the rows in any order; two, see `row_digest`.
        order: digests of the order that was asked for; empty where none was.
    """

    columns: list[str]
    rows: int
    content: tuple[str, str]
    order: tuple[str, str] = ("", "")

    def same_as(self, other: Answer) -> bool:
        """Whether the rows are the same: one pair of digests is enough (see `row_digest`)."""
        return (
            self.columns == other.columns
            and self.rows == other.rows
            and _alike(self.content, other.content)
            and _alike(self.order, other.order)
        )


def _alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] == other[0] or one[1] == other[1]


@dataclass
class TableState:
    """A table or view that a query reads: its columns with types, its rows as a digest, and what it
    and all that it reads are (see `definitions`)."""

    columns: list[tuple[str, str]]
    rows: int
    digest: str
    made_of: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Job:
    """One piece of work.

    Attributes:
        kind: `check` measures `query` and compares it with `original`; `bench` only measures, or
            runs a statement that makes an index; `state` gives a fingerprint; `reach` only looks
            whether the database can be asked.
        known: what the original query answered, where that is known.
        extra_tables: tables that a rewritten query may read beside those of the original.
        timeout_s: for one statement.
        ordered: whether order counts; None where the query's own ORDER BY says so.
        allow_writes: the query may write; it is rolled back.
        allow_indexes: a statement may make or drop an index, which stays.
        full_data: digests of all rows, and not only counts, tell whether a table has changed.
        changed_copy: the queries are compared on changed copies of the database file, too.
        salt: makes the samples of one run the same and those of two runs different.
        show_rows: how many rows are given as text.
        profile_tables: tables whose statistics are wanted.
    """

    kind: Literal["check", "bench", "state", "reach"]
    target: Target
    query: str = ""
    original: str = ""
    known: Answer | None = None
    extra_tables: list[str] = field(default_factory=list[str])
    runs: int = 5
    warmup: int = 1
    max_ms: float = 0.0
    timeout_s: float = 120.0
    ordered: bool | None = None
    allow_writes: bool = False
    allow_indexes: bool = False
    full_data: bool = True
    changed_copy: bool = False
    salt: str = ""
    show_rows: int = 0
    profile_tables: list[str] = field(default_factory=list[str])


@dataclass
class Report:
    """What was found.

    Attributes:
        problem: why it could not be done, for people; empty when it was.
        answer: the rows of the query; of the original where only that ran.
        original_answer: the original's rows, where it had to run again.
        stable: every run gave the same rows.
        times_ms: of each run, without the warm-up.
        plan: the database's own EXPLAIN.
        tables: what the original reads, and the extra tables.
        foreign: tables that the query reads and the original does not.
        difference: how the rows differ from the original's, by example.
        samples_differ: how they differ on samples of the data.
        not_sampled: why they were not compared there.
        shown: the first rows as text.
        profile: statistics of tables, as text.
        fingerprint: for `state`.
        changed_ms: how long a statement took that is no query; None for a query.
    """

    problem: str = ""
    answer: Answer | None = None
    original_answer: Answer | None = None
    stable: bool = True
    times_ms: list[float] = field(default_factory=list[float])
    plan: str = ""
    tables: dict[str, TableState] = field(default_factory=dict[str, TableState])
    foreign: list[str] = field(default_factory=list[str])
    difference: str = ""
    samples_differ: str = ""
    not_sampled: str = ""
    shown: str = ""
    profile: str = ""
    fingerprint: str = ""
    changed_ms: float | None = None
