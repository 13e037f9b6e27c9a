"""Metrics by name, computed by scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

Metrics = Mapping[str, tuple[str, Mapping[str, Any]]]
"""Functions of `sklearn.metrics`, and the options that they get."""

CLASSIFICATION: Metrics = {
    "accuracy": ("accuracy_score", {}),
    "balanced_accuracy": ("balanced_accuracy_score", {}),
    "f1_macro": ("f1_score", {"average": "macro"}),
    "f1_weighted": ("f1_score", {"average": "weighted"}),
    "precision_macro": ("precision_score", {"average": "macro", "zero_division": 0}),
    "recall_macro": ("recall_score", {"average": "macro", "zero_division": 0}),
    "matthews": ("matthews_corrcoef", {}),
}
BY_PROBABILITY: Metrics = {
    "roc_auc": ("roc_auc_score", {}),
    "log_loss": ("log_loss", {"labels": [0, 1]}),
    "brier": ("brier_score_loss", {}),
}
REGRESSION: Metrics = {
    "r2": ("r2_score", {}),
    "mae": ("mean_absolute_error", {}),
    "mse": ("mean_squared_error", {}),
    "rmse": ("root_mean_squared_error", {}),
    "mape": ("mean_absolute_percentage_error", {}),
    "median_absolute_error": ("median_absolute_error", {}),
}
LESS_IS_BETTER = frozenset(
    {"mae", "mse", "rmse", "mape", "median_absolute_error", "log_loss", "brier", "loss", "error"}
)
KNOWN: Metrics = {**CLASSIFICATION, **BY_PROBABILITY, **REGRESSION}


def compute(name: str, truth: Sequence[Any], predicted: Sequence[Any]) -> float:
    """A metric that is known here.

    Args:
        name: of the metric.
        truth: classes, numbers, or 0 and 1 for a metric of `BY_PROBABILITY`.
        predicted: of the same kind, or the probability of 1.
    """
    function, options = KNOWN[name]
    metrics = import_module("sklearn.metrics")
    return float(getattr(metrics, function)(truth, predicted, **options))
