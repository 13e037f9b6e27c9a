"""What the analysing process is asked, and what it answers; plain dataclasses, as in `database`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

Task = Literal["auto", "classification", "regression"]
Chart = Literal["line", "bar", "scatter", "histogram", "box", "correlation"]
Test = Literal[
    "t_test",
    "paired_t_test",
    "one_sample_t_test",
    "chi_square",
    "mann_whitney",
    "anova",
    "shapiro",
    "pearson",
]
Alternative = Literal["two-sided", "less", "greater"]


@dataclass
class Outcome:
    """An answer.

    Attributes:
        problem: why there is none, for people; empty where there is.
        text: for the model.
        data: the same as values.
        image: of a chart, base64.
    """

    problem: str = ""
    text: str = ""
    data: dict[str, object] = field(default_factory=dict[str, object])
    image: str = ""


@dataclass
class TrainJob:
    """Cross-validate estimators on a CSV file, which follows the job."""

    target: str
    features: list[str]
    estimators: list[str]
    metrics: list[str]
    task: Task
    folds: int
    seed: int


@dataclass
class ChartJob:
    """Draw a chart of columns, given here or as a CSV file that follows."""

    kind: Chart
    x: str
    y: list[str]
    title: str
    columns: dict[str, list[float | str | None]]
    width: float
    height: float


@dataclass
class TestJob:
    """Test a hypothesis on samples, given here or as columns of a CSV file that follows."""

    test: Test
    samples: list[list[float]]
    columns: list[str]
    group: str
    mean: float
    alternative: Alternative
    alpha: float
    __test__: ClassVar[bool] = False


@dataclass
class ScoreJob:
    """Score predictions (a CSV file that follows) against what is true.

    Attributes:
        truth: the held-out column, in the order of the predictions.
        metric: its name.
    """

    truth: list[str]
    metric: str
