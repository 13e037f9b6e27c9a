"""The tool `hypothesis_test`: statistical tests with effect sizes and their assumptions."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult

from .analysis.jobs import Alternative, Test, TestJob
from .csv_input import analyse, as_result, read_file


class HypothesisTestOptions(ToolOptions):
    """Limits of `hypothesis_test`."""

    timeout_s: float = Field(default=60.0, gt=0)
    """Maximum seconds for one call."""


class HypothesisTestArgs(ToolArgs):
    """What to test."""

    test: Test = Field(
        description=(
            "t_test (Welch's, two samples), paired_t_test, one_sample_t_test, chi_square (of "
            "independence), mann_whitney, anova (one-way), shapiro (normality), pearson"
        )
    )
    samples: list[list[float]] = Field(
        default_factory=list[list[float]],
        description="lists of numbers, one a sample; for chi_square the rows of a table of counts",
    )
    path: str = Field(default="", description="a CSV file of the project instead of `samples`")
    columns: list[str] = Field(
        default_factory=list[str],
        description="its columns, one a sample; with `group` the one column of values",
    )
    group: str = Field(default="", description="the column that says to which sample a row belongs")
    mean: float = Field(default=0.0, description="what one_sample_t_test compares with")
    alternative: Alternative = Field(
        default="two-sided", description="the first sample is `less` or `greater`"
    )
    alpha: float = Field(default=0.05, gt=0, lt=1, description="the level of significance")


class HypothesisTest(Tool[HypothesisTestArgs, HypothesisTestOptions]):
    """Tests with SciPy in a process of retrai's own."""

    name: ClassVar[str] = "hypothesis_test"
    description: ClassVar[str] = (
        "Test a hypothesis statistically: the statistic, p, an effect size, an interval, and "
        "whether what the test rests on holds (normality by Shapiro-Wilk, equal variances by "
        "Levene, expected counts). Use it before you call a difference real."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})

    async def run(self, args: HypothesisTestArgs, context: RunContext) -> ToolResult:
        options = self.options
        if bool(args.path) == bool(args.samples):
            raise ToolError("give either `path` with `columns`, or `samples`")
        if args.path and not args.columns:
            raise ToolError("name the columns of the CSV file in `columns`")
        if any(not math.isfinite(value) for sample in args.samples for value in sample):
            raise ToolError("a value in `samples` is no finite number")
        data = await read_file(args.path, context) if args.path else b""
        job = TestJob(**args.model_dump(exclude={"path"}))
        outcome = await analyse("hypotheses", job, data, context, options.timeout_s)
        return as_result(outcome, options.max_chars)
