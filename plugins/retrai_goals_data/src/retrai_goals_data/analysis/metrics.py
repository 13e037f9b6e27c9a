"""Metrics by name, computed by scikit-learn."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

CLASSIFICATION: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "accuracy": ("accuracy_score", {}),
    "balanced_accuracy": ("balanced_accuracy_score", {}),
    "f1_macro": ("f1_score", {"average": "macro"}),
    "f1_weighted": ("f1_score", {"average": "weighted"}),
    "precision_macro": ("precision_score", {"average": "macro", "zero_division": 0}),
    "recall_macro": ("recall_score", {"average": "macro", "zero_division": 0}),
    "matthews": ("matthews_corrcoef", {}),
}
BY_PROBABILITY = {"roc_auc": "roc_auc_score", "log_loss": "log_loss", "brier": "brier_score_loss"}
REGRESSION = {
    "r2": "r2_score",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
    "rmse": "mean_squared_error",
    "mape": "mean_absolute_percentage_error",
    "median_absolute_error": "median_absolute_error",
}
LESS_IS_BETTER = frozenset(
    {"mae", "mse", "rmse", "mape", "median_absolute_error", "log_loss", "brier", "loss", "error"}
)
NAMES = (*CLASSIFICATION, *BY_PROBABILITY, *REGRESSION)


def nearest(name: str) -> str:
    """A hint at the metric that was meant; empty where none is near."""
    near = difflib.get_close_matches(name, NAMES, 1)
    return f"; did you mean {near[0]}?" if near else ""


def score_classes(name: str, truth: Sequence[str], predicted: Sequence[str]) -> float:
    """A metric of `CLASSIFICATION`."""
    function, options = CLASSIFICATION[name]
    metrics = import_module("sklearn.metrics")
    return float(getattr(metrics, function)(truth, predicted, **options))


def score_probabilities(name: str, truth: Sequence[int], probability: Sequence[float]) -> float:
    """A metric of `BY_PROBABILITY`; `truth` is 0 or 1, `probability` that of 1."""
    metrics = import_module("sklearn.metrics")
    options: dict[str, Any] = {"labels": [0, 1]} if name == "log_loss" else {}
    return float(getattr(metrics, BY_PROBABILITY[name])(truth, probability, **options))


def score_numbers(name: str, truth: Sequence[float], predicted: Sequence[float]) -> float:
    """A metric of `REGRESSION`."""
    metrics = import_module("sklearn.metrics")
    value = float(getattr(metrics, REGRESSION[name])(truth, predicted))
    return math.sqrt(value) if name == "rmse" else value
