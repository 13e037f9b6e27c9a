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
    max_ms: float = Field(gt=0, json_schema_extra={"loosens": True})
    """The median of the runs must be under this, in milliseconds."""
    query: str = Field(default="", json_schema_extra={"runs": True})
    """The query itself, which then cannot be changed, only helped along; or give `query_file`."""
    query_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """The file that holds the query, relative to the project; this is what is to be rewritten."""
    runs: int = Field(default=5, ge=1, le=1000, json_schema_extra={"loosens": True})
    """How often it is measured."""
    warmup: int = Field(default=1, ge=0, le=100, json_schema_extra={"loosens": True})
    """How often it is run before that, without being counted."""
    timeout_s: float = Field(default=120.0, gt=0, json_schema_extra={"loosens": False})
    """Seconds after which one run of the query is ended."""
    order: Literal["auto", "yes", "no"] = Field(default="auto", json_schema_extra={"loosens": True})
    """Whether the order of the rows counts; `auto`: where the first query has an ORDER BY."""
    allow_indexes: bool = Field(default=True, json_schema_extra={"loosens": False})
    """Whether the tool `sql_bench` may make and drop indexes, and gather statistics."""
    allow_writes: bool = Field(default=False, json_schema_extra={"loosens": True})
    """Whether the query may write; each run of it is rolled back."""
    data_check: Literal["rows", "counts"] = Field(
        default="rows", json_schema_extra={"loosens": True}
    )
    """How it is seen that the data has not been changed: by hashing every row of the tables that \
are read, or by counting them, which is weaker and fast on very large tables."""
    extra_tables: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Tables that a rewritten query may read beside those of the first one."""
    allow_redefined: list[str] = Field(
        default_factory=list[str], json_schema_extra={"loosens": True}
    )
    """Views and tables that may become something else which holds the same rows (a view that is \
made a table); what is read may otherwise not be made anew."""
    data_files: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of files that DuckDB queries read (`data/*.csv`); they are protected."""

    @field_validator("dsn")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        Dsn.parse(value)
        return value

    @field_validator("extra_tables", "allow_redefined", "data_files", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return value.split() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_query(self) -> Self:
        if bool(self.query.strip()) == bool(self.query_file.strip()):
            raise ValueError("give either query or query_file")
        return self
