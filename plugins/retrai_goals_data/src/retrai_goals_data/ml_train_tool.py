"""The tool `ml_train`: how well estimators do on a CSV file, by cross-validation."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolOptions, ToolResult

from .analysis.jobs import Task, TrainJob
from .csv_input import analyse, as_result, read_file


class MlTrainOptions(ToolOptions):
    """Limits of `ml_train`."""

    timeout_s: float = Field(default=300.0, gt=0)
    """Maximum seconds for one call."""


class MlTrainArgs(ToolArgs):
    """What to train."""

    path: str = Field(description="a CSV file of the project, with a header")
    target: str = Field(description="the column to predict")
    features: list[str] = Field(
        default_factory=list[str], description="the columns to predict from; all others if empty"
    )
    estimators: list[str] = Field(
        default_factory=list[str],
        description=(
            "which to try, all if empty: dummy, knn, tree, forest, gradient_boosting, svm, for "
            "classes also logistic, naive_bayes, for numbers linear, ridge, lasso"
        ),
    )
    metrics: list[str] = Field(
        default_factory=list[str],
        description=(
            "for classes accuracy, balanced_accuracy, f1_macro, f1_weighted, roc_auc; for numbers "
            "r2, mae, rmse, mape"
        ),
    )
    task: Task = Field(default="auto", description="what the target is")
    folds: int = Field(default=5, ge=2, le=20, description="of the cross-validation")
    seed: int = Field(default=0, ge=0, le=2**32 - 1, description="of the folds and estimators")


class MlTrain(Tool[MlTrainArgs, MlTrainOptions]):
    """Cross-validates scikit-learn's estimators in a process of retrai's own."""

    name: ClassVar[str] = "ml_train"
    description: ClassVar[str] = (
        "Cross-validate scikit-learn estimators on a CSV file: the mean and spread of each metric "
        "for each estimator. Missing numbers are imputed, numbers scaled and texts one-hot "
        "encoded within each fold. Use it to find out what a data set gives before you write code."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})

    def summary(self, args: MlTrainArgs) -> str:
        return f"{args.target} of {args.path}"

    async def run(self, args: MlTrainArgs, context: RunContext) -> ToolResult:
        options = self.options
        data = await read_file(args.path, context)
        job = TrainJob(**args.model_dump(exclude={"path"}))
        outcome = await analyse("training", job, data, context, options.timeout_s)
        return as_result(outcome, options.max_chars)
