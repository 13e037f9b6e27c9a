"""Cross-validates scikit-learn's estimators on a table; runs in a process of its own."""

from __future__ import annotations

import difflib
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from statistics import fmean, pstdev
from typing import Any

from ..answering import answer_job
from .jobs import Outcome, TrainJob
from .tables import Table, TableError, read_csv

CLASSIFIERS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "dummy": ("sklearn.dummy", "DummyClassifier", {}),
    "logistic": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 2000}),
    "knn": ("sklearn.neighbors", "KNeighborsClassifier", {}),
    "naive_bayes": ("sklearn.naive_bayes", "GaussianNB", {}),
    "tree": ("sklearn.tree", "DecisionTreeClassifier", {}),
    "forest": ("sklearn.ensemble", "RandomForestClassifier", {}),
    "gradient_boosting": ("sklearn.ensemble", "HistGradientBoostingClassifier", {}),
    "svm": ("sklearn.svm", "SVC", {}),
}
REGRESSORS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "dummy": ("sklearn.dummy", "DummyRegressor", {}),
    "linear": ("sklearn.linear_model", "LinearRegression", {}),
    "ridge": ("sklearn.linear_model", "Ridge", {}),
    "lasso": ("sklearn.linear_model", "Lasso", {}),
    "knn": ("sklearn.neighbors", "KNeighborsRegressor", {}),
    "tree": ("sklearn.tree", "DecisionTreeRegressor", {}),
    "forest": ("sklearn.ensemble", "RandomForestRegressor", {}),
    "gradient_boosting": ("sklearn.ensemble", "HistGradientBoostingRegressor", {}),
    "svm": ("sklearn.svm", "SVR", {}),
}
SCORERS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "f1_macro": "f1_macro",
    "f1_weighted": "f1_weighted",
    "roc_auc": "roc_auc_ovr",
    "r2": "r2",
    "mae": "neg_mean_absolute_error",
    "rmse": "neg_root_mean_squared_error",
    "mape": "neg_mean_absolute_percentage_error",
}
BY_DEFAULT = {"classification": ["accuracy", "f1_macro"], "regression": ["r2", "rmse"]}
MAX_CLASSES = 50
MAX_CATEGORIES = 30
FEW_CLASSES = 20


def main() -> None:
    """Read the job and the table, and answer with the scores."""
    answer_job(TrainJob, do)


def do(job: TrainJob, data: bytes) -> Outcome:
    """Scores by estimator and metric: mean, spread and each fold."""
    try:
        return train(job, read_csv(data))
    except TableError as error:
        return Outcome(problem=str(error))
    except (ValueError, MemoryError) as error:
        return Outcome(problem=f"scikit-learn: {' '.join(str(error).split())[:500]}")


def train(job: TrainJob, table: Table) -> Outcome:
    """Fit and score each estimator fold by fold.

    Raises:
        TableError: the columns, the estimators or the number of rows do not fit.
    """
    names = job.features or [name for name in table.columns if name != job.target]
    if job.target in names:
        raise TableError(f"the target {job.target} cannot be a feature too")
    task = _task(job, table)
    kept = [n for n, text in enumerate(table.texts(job.target)) if text.strip()]
    dropped = table.rows - len(kept)
    target = _target(job, table, kept, task)
    _require_enough(target, job.folds, task)
    features, numeric = _features(table, names, kept)
    metrics = job.metrics or BY_DEFAULT[task]
    scoring = {name: SCORERS[_known(name, SCORERS, "metric")] for name in metrics}
    known = CLASSIFIERS if task == "classification" else REGRESSORS
    selection = import_module("sklearn.model_selection")
    split = "StratifiedKFold" if task == "classification" else "KFold"
    folds = getattr(selection, split)(job.folds, shuffle=True, random_state=job.seed)
    scores: dict[str, dict[str, dict[str, object]]] = {}
    chosen = job.estimators or list(known)
    for name in chosen:
        model = _pipeline(known[_known(name, known, f"{task} estimator")], numeric, job.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = selection.cross_validate(
                model, features, target, cv=folds, scoring=scoring, error_score="raise"
            )
        scores[name] = {metric: _summary(found[f"test_{metric}"], metric) for metric in metrics}
    return _outcome(task, scores, metrics, len(kept), dropped)


def _task(job: TrainJob, table: Table) -> str:
    if job.task != "auto":
        return job.task
    different = len(set(table.texts(job.target)))
    numeric = table.is_numeric(job.target)
    return "regression" if numeric and different > FEW_CLASSES else "classification"


def _target(job: TrainJob, table: Table, kept: list[int], task: str) -> Any:
    numpy = import_module("numpy")
    if task == "regression":
        numbers = table.numbers(job.target)
        if any(math.isnan(numbers[n]) for n in kept):
            raise TableError(f"the column {job.target} has values that are not there (NaN)")
        return numpy.array([numbers[n] for n in kept])
    texts = table.texts(job.target)
    return numpy.array([texts[n].strip() for n in kept])


def _require_enough(target: Any, folds: int, task: str) -> None:
    if len(target) < 2 * folds:
        raise TableError(
            f"{len(target)} rows with a target are too few for {folds} folds; "
            f"at least {2 * folds} are needed"
        )
    if task == "regression":
        return
    labels: list[str] = target.tolist()
    counts = Counter(labels)
    if len(counts) < 2:
        raise TableError("the target has only one class")
    if len(counts) > MAX_CLASSES:
        raise TableError(f"the target has {len(counts)} classes; is it a regression?")
    name, least = min(counts.items(), key=lambda pair: pair[1])
    if least < folds:
        raise TableError(
            f"the class {name} has {least} rows, too few for {folds} folds; take fewer folds"
        )


def _features(table: Table, names: list[str], kept: list[int]) -> tuple[Any, list[bool]]:
    numpy = import_module("numpy")
    if not names:
        raise TableError("there is no feature beside the target")
    numeric = [table.is_numeric(name) for name in names]
    matrix = numpy.empty((len(kept), len(names)), dtype=object)
    for index, name in enumerate(names):
        values: list[Any] = table.numbers(name) if numeric[index] else table.texts(name)
        matrix[:, index] = [values[n] for n in kept]
    return matrix, numeric


def _pipeline(which: tuple[str, str, Mapping[str, Any]], numeric: list[bool], seed: int) -> Any:
    """The estimator behind the usual preparation, fitted within each fold like itself."""
    make: Callable[..., Any] = import_module("sklearn.pipeline").make_pipeline
    preparing = import_module("sklearn.preprocessing")
    impute = import_module("sklearn.impute").SimpleImputer
    compose = import_module("sklearn.compose").ColumnTransformer
    numbers = [index for index, is_numeric in enumerate(numeric) if is_numeric]
    texts = [index for index, is_numeric in enumerate(numeric) if not is_numeric]
    encode = preparing.OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False
    )
    prepare = compose(
        [
            ("numbers", make(impute(strategy="median"), preparing.StandardScaler()), numbers),
            ("texts", encode, texts),
        ]
    )
    module, name, options = which
    estimator = getattr(import_module(module), name)(**options)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    return make(prepare, estimator)


def _known(name: str, known: Mapping[str, object], what: str) -> str:
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise TableError(f"{name} is no {what}{meant} (there are: {', '.join(known)})")


def _summary(values: Any, metric: str) -> dict[str, object]:
    sign = -1.0 if SCORERS[metric].startswith("neg_") else 1.0
    folds = [round(sign * float(value), 6) for value in values]
    return {"mean": round(fmean(folds), 6), "std": round(pstdev(folds), 6), "folds": folds}


def _outcome(
    task: str,
    scores: dict[str, dict[str, dict[str, object]]],
    metrics: list[str],
    rows: int,
    dropped: int,
) -> Outcome:
    width = max(len(name) for name in scores)
    lines = [f"{task}, {rows} rows" + (f" ({dropped} without a target left out)" * bool(dropped))]
    for name, by_metric in scores.items():
        cells = [f"{m} {by_metric[m]['mean']:.4f} ± {by_metric[m]['std']:.4f}" for m in metrics]
        lines.append(f"{name.ljust(width)}  {'  '.join(cells)}")
    data: dict[str, object] = {"task": task, "rows": rows, "dropped": dropped, "scores": scores}
    return Outcome(text="\n".join(lines), data=data)
