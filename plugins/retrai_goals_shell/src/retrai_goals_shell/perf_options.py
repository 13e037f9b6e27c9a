"""The options of the goal `perf-check`."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from .command_goal import CommandOptions


class PerfCheckOptions(CommandOptions):
    """Options of the goal `perf-check`."""

    command: str = Field(
        default="python bench.py",
        min_length=1,
        json_schema_extra={"runs": True, "aliases": ["check_command"]},
    )
    """Shell line to measure."""
    max_seconds: float = Field(default=1.0, gt=0, json_schema_extra={"loosens": True})
    """Limit in wall-clock seconds."""
    runs: int = Field(default=3, ge=1, le=100, json_schema_extra={"loosens": True})
    """Number of measurements in a row that must stay below the limit."""
    repeats: int = Field(
        default=3, ge=1, le=100, json_schema_extra={"loosens": True, "aliases": ["iterations"]}
    )
    """Number of repeats per measurement; their median counts."""
    warmup: int = Field(default=1, ge=0, le=100, json_schema_extra={"loosens": True})
    """Number of warm-up repeats, which do not count."""
    compare_output: bool = Field(default=True, json_schema_extra={"loosens": True})
    """Whether standard output must be the same as at the start of the run."""
    ignore_output: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Regular expressions, applied line by line, for output that may differ (such as a printed
    time)."""
    output_files: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Output files whose content is also compared."""
    protect: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of additional protected files that belong to the check (its input data)."""

    @field_validator("protect", "output_files", "ignore_output", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("ignore_output")
    @classmethod
    def _compile(cls, value: list[str]) -> list[str]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return value
