"""The options of the goal `perf-check`."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from .place import PlaceOptions


class PerfCheckOptions(PlaceOptions):
    """Options of the goal `perf-check`."""

    command: str = Field(min_length=1, json_schema_extra={"runs": True})
    """The shell line that is measured."""
    max_seconds: float = Field(gt=0, json_schema_extra={"loosens": True})
    """Wall-clock seconds that it must stay below."""
    runs: int = Field(default=3, ge=1, le=100, json_schema_extra={"loosens": True})
    """How many times in a row it must do so."""
    repeats: int = Field(default=3, ge=1, le=100, json_schema_extra={"loosens": True})
    """How many repeats each of these times is the median of."""
    warmup: int = Field(default=1, ge=0, le=100, json_schema_extra={"loosens": True})
    """Repeats before, which do not count."""
    compare_output: bool = Field(default=True, json_schema_extra={"loosens": True})
    """Whether standard output must be what it was when the run began."""
    ignore_output: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Regular expressions of what may differ in it (a time that it prints), line by line."""
    output_files: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Files that it writes and whose content is compared as well."""
    protect: list[str] = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """More globs of files that belong to the check and may not be changed (its input data)."""

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
