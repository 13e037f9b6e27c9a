"""The options of the goal `perf-check`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..command.goal import CommandOptions
from ..option_types import IsRegex, OneOrMore


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
    ignore_output: Annotated[list[str], OneOrMore, IsRegex] = Field(
        default_factory=list[str], json_schema_extra={"loosens": True}
    )
    """Regular expressions, applied line by line, for output that may differ (such as a printed
    time)."""
    output_files: Annotated[list[str], OneOrMore] = Field(
        default_factory=list[str], json_schema_extra={"loosens": False}
    )
    """Output files whose content is also compared."""
    protect: Annotated[list[str], OneOrMore] = Field(
        default_factory=list[str], json_schema_extra={"loosens": False}
    )
    """Globs of additional protected files that belong to the check (its input data)."""
