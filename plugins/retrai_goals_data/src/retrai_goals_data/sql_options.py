"""The options of the goal `sql-benchmark`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from retrai_core import GoalOptions
from retrai_goal_support import ProjectFile

from .dsn import Dsn


class SqlBenchmarkOptions(GoalOptions):
    """Options of the goal `sql-benchmark`."""

    dsn: str = Field(json_schema_extra={"runs": True})
    """The database: `sqlite:///shop.db`, `duckdb:///shop.duckdb`, `postgresql://user@host/shop`. \
A relative file is one of the project; `${NAME}` stands for an environment variable (a password)."""
    max_ms: float = Field(default=100.0, gt=0, json_schema_extra={"loosens": True})
    """Limit for the median of the runs, in milliseconds."""
    query: str = Field(default="", json_schema_extra={"runs": True})
    """The query itself, which the agent cannot change, only support (with an index, for example);
    or give `query_file`."""
    query_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """File with the query to rewrite, relative to the project."""
    expected_rows: int | None = Field(default=None, ge=0, json_schema_extra={"loosens": False})
    """Number of rows that the query must give. Default: as many as at the start."""
    runs: int = Field(
        default=5, ge=1, le=1000, json_schema_extra={"loosens": True, "aliases": ["iterations"]}
    )
    """Number of measured runs."""
    warmup: int = Field(default=1, ge=0, le=100, json_schema_extra={"loosens": True})
    """Number of runs before them that are not measured; true is one, false none."""
    timeout_s: float = Field(default=120.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum seconds for one run of the query."""
    order: Literal["auto", "yes", "no"] = Field(default="auto", json_schema_extra={"loosens": True})
    """Whether the order of the rows counts; `auto`: if the original query has an ORDER BY."""
    allow_indexes: bool = Field(default=True, json_schema_extra={"loosens": False})
    """Whether the tool `sql_bench` may create and drop indexes and gather statistics."""
    allow_writes: bool = Field(default=False, json_schema_extra={"loosens": True})
    """Whether the query may write; each run of it is rolled back."""
    data_check: Literal["rows", "counts"] = Field(
        default="rows", json_schema_extra={"loosens": True}
    )
    """How to detect changed data: by hashing every row of the tables that are read, or by \
counting the rows, which is weaker but fast on very large tables."""
    extra_tables: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional tables that a rewritten query may read."""
    allow_redefined: list[str] = Field(
        default_factory=list[str], json_schema_extra={"loosens": True}
    )
    """Views and tables that may be redefined if they keep the same rows (a view that becomes a \
table); everything else that is read must stay as it is."""
    explain: bool = Field(default=True, json_schema_extra={"loosens": False})
    """Whether the model is told the database's plan after each check."""
    profile_tables: list[str] = Field(
        default_factory=list[str], json_schema_extra={"loosens": False}
    )
    """Tables of which the model is told statistics: rows, and by column the different values, \
the missing ones, the least and the greatest."""
    backend: Literal["sqlalchemy"] = Field(
        default="sqlalchemy", json_schema_extra={"loosens": False}
    )
    """The library that connects to the database; there is one."""
    data_files: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of files that DuckDB queries read (`data/*.csv`); they are protected."""

    @field_validator("dsn")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        Dsn.parse(value)
        return value

    @field_validator("backend", mode="before")
    @classmethod
    def _no_databricks(cls, value: object) -> object:
        if value == "databricks":
            raise ValueError(
                "Databricks is not supported; export the tables to a DuckDB file, install "
                "'retrai-goals-data[duckdb]' beside retrai, and give `dsn: duckdb:///FILE.duckdb`"
            )
        return value

    @field_validator(
        "extra_tables", "allow_redefined", "profile_tables", "data_files", mode="before"
    )
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return value.split() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_query(self) -> Self:
        if bool(self.query.strip()) == bool(self.query_file.strip()):
            raise ValueError("give either query or query_file")
        return self
