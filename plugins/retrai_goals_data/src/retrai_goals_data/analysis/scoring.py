"""Scores predictions for held-out rows; runs in a process of its own."""

from __future__ import annotations

import math

from ..answering import answer_job
from .jobs import Outcome, ScoreJob
from .metrics import BY_PROBABILITY, CLASSIFICATION, compute
from .tables import TableError, as_number, read_csv

PREDICTION, PROBABILITY = "prediction", "probability"


def main() -> None:
    """Read the job and the predictions, and answer with the score."""
    answer_job(ScoreJob, do)


def do(job: ScoreJob, data: bytes) -> Outcome:
    """`data["score"]` is the metric's value; what is wrong with the predictions is the problem."""
    try:
        return Outcome(data={"score": score(job, data)})
    except TableError as error:
        return Outcome(problem=f"the predictions cannot be scored: {error}")


def score(job: ScoreJob, data: bytes) -> float:
    """The metric's value.

    Raises:
        TableError: the predictions are not what they should be.
    """
    table = read_csv(data)
    if table.rows != len(job.truth):
        raise TableError(f"there are {table.rows}, for {len(job.truth)} held-out rows")
    if job.metric in CLASSIFICATION:
        predicted = [_label(text) for text in table.texts(PREDICTION)]
        return compute(job.metric, [_label(text) for text in job.truth], predicted)
    if job.metric in BY_PROBABILITY:
        return _by_probability(job, _finite(table.numbers(PROBABILITY), PROBABILITY))
    truth = [as_number(text) for text in job.truth]
    if any(number is None or math.isnan(number) for number in truth):
        raise TableError("the target of the held-out data is not numeric")
    return compute(job.metric, truth, _finite(table.numbers(PREDICTION), PREDICTION))


def _by_probability(job: ScoreJob, probabilities: list[float]) -> float:
    labels = sorted({_label(text) for text in job.truth})
    if len(labels) != 2:
        raise TableError(f"{job.metric} is for two classes, and the target has {len(labels)}")
    if not all(0 <= probability <= 1 for probability in probabilities):
        raise TableError("a probability is not between 0 and 1")
    truth = [labels.index(_label(text)) for text in job.truth]
    return compute(job.metric, truth, probabilities)


def _label(text: str) -> str:
    """A class by its name: `1`, `1.0` and ` 1` are one class."""
    number = as_number(text)
    return text.strip() if number is None or math.isnan(number) else f"{number:g}"


def _finite(numbers: list[float], name: str) -> list[float]:
    for line, number in enumerate(numbers, start=2):
        if math.isnan(number):
            raise TableError(f"the {name} in line {line} is missing")
    return numbers
