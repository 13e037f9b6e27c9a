"""The options of the goal `ml-optimize`."""

from __future__ import annotations

import difflib
from typing import Literal, Self, cast

from pydantic import Field, field_validator, model_validator

from retrai_core import GoalOptions
from retrai_goal_support import ProjectFile, ShellWords

from .analysis.metrics import KNOWN, LESS_IS_BETTER, REGRESSION

AT_LEAST, AT_MOST = ">=", "<="
_OTHER_NAMES = {
    "auc": "roc_auc",
    "f1": "f1_macro",
    "precision": "precision_macro",
    "recall": "recall_macro",
}
"""Names that people use, where retrai computes the metric."""


class MlOptimizeOptions(GoalOptions):
    """Options of the goal `ml-optimize`."""

    train_script: ProjectFile = Field(
        default="train.py", min_length=1, json_schema_extra={"runs": True}
    )
    """Training script in Python, relative to the project; runs with the project's interpreter. \
With `data_file` the agent may write it."""
    target_metric: str = Field(default="roc_auc", min_length=1, json_schema_extra={"loosens": True})
    """The metric: `accuracy`, `f1_macro` (or `f1`), `roc_auc` (or `auc`), `rmse`, `r2`..., or, \
without held-out rows, any name that the script reports."""
    target_value: float = Field(
        default=0.85, allow_inf_nan=False, json_schema_extra={"loosens": True}
    )
    """Target value of the metric."""
    data_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """CSV file of the project with all rows. retrai holds a part of them out, another one in \
each run, and computes the metric on it."""
    held_out_share: float = Field(default=0.25, gt=0, lt=1, json_schema_extra={"loosens": True})
    """Share of the rows of `data_file` that is held out."""
    task_type: Literal["auto", "classification", "regression"] = Field(
        default="auto", json_schema_extra={"loosens": False}
    )
    """What is predicted: classes or numbers; `auto` follows from the metric."""
    direction: Literal["auto", ">=", "<="] = Field(
        default="auto", json_schema_extra={"loosens": True}
    )
    """Whether higher or lower is better; `auto` knows the common metrics."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Arguments for the script. A string is split like a shell line."""
    test_data: str = Field(default="", json_schema_extra={"loosens": True})
    """CSV file with rows that the script never sees. With it, retrai computes the metric itself. \
Keep it outside the project, so that the agent cannot see it either."""
    target: str = Field(
        default="", json_schema_extra={"loosens": True, "aliases": ["target_column"]}
    )
    """Column to predict, in `data_file`, `test_data` and the project's CSV files."""
    test_data_visible: bool = Field(default=False, json_schema_extra={"loosens": True})
    """Whether `test_data` may be in the project, where the agent can read and learn it."""
    data: list[str] = Field(
        default_factory=lambda: ["data/", "*.csv", "*.parquet"], json_schema_extra={"loosens": True}
    )
    """Globs of data files; they are protected."""
    metric_files: list[str] = Field(
        default_factory=lambda: ["evaluate.py", "evaluation.py", "metrics.py", "scoring.py"],
        json_schema_extra={"loosens": True},
    )
    """Globs of files that compute the metric; they are protected."""
    seed: int = Field(default=0, ge=0, le=2**32 - 1, json_schema_extra={"loosens": True})
    """The first seed; the script gets it as `RETRAI_SEED`."""
    runs: int = Field(default=1, ge=1, le=50, json_schema_extra={"loosens": True})
    """Number of training runs, each with a different seed; the median counts."""
    timeout_s: float = Field(default=600.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum seconds for one training run."""

    @field_validator("data", "metric_files", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return value.split() if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _one_name_of_the_metric(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        given = cast("dict[str, object]", values)
        name = given.get("target_metric")
        if isinstance(name, str) and (given.get("data_file") or given.get("test_data")):
            lower = name.lower()
            return {**given, "target_metric": _OTHER_NAMES.get(lower, lower)}
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        name = self.target_metric
        if self.data_file and self.test_data:
            raise ValueError("give either data_file, which is split, or test_data")
        if self.data_file and not self.target:
            raise ValueError("data_file needs target, the column to predict")
        is_regression = {"classification": False, "regression": True}.get(self.task_type)
        if is_regression is not None and name in KNOWN and (name in REGRESSION) != is_regression:
            raise ValueError(f"target_metric: {name} is no metric of a {self.task_type}")
        if self.is_held_out and name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"target_metric: retrai cannot compute {name}{meant} (it knows {', '.join(KNOWN)})"
            )
        if self.test_data and not self.target:
            raise ValueError("test_data needs target, the column to predict")
        if self.direction == "auto" and name not in {*KNOWN, *LESS_IS_BETTER, *_OTHER_NAMES}:
            raise ValueError(f"direction: say whether {name} is to be >= or <= {self.target_value}")
        return self

    @property
    def is_held_out(self) -> bool:
        """Whether retrai computes the metric, on rows that the script does not get."""
        return bool(self.data_file or self.test_data)

    @property
    def wanted(self) -> str:
        """`>=` or `<=`."""
        if self.direction != "auto":
            return self.direction
        return AT_MOST if self.target_metric in LESS_IS_BETTER else AT_LEAST

    def reached(self, value: float) -> bool:
        """Whether a value of the metric is good enough."""
        if self.wanted == AT_LEAST:
            return value >= self.target_value
        return value <= self.target_value
