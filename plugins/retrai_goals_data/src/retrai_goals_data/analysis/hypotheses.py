"""Tests hypotheses with SciPy: statistic, p, effect size, and how far the assumptions hold."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from statistics import fmean, stdev

from ..answering import answer_job
from .jobs import Outcome, TestJob
from .statistical_tests import TESTS, Found, Samples, chi_square
from .tables import TableError, read_csv


def main() -> None:
    """Read the job and the table, and answer."""
    answer_job(TestJob, do)


def do(job: TestJob, data: bytes) -> Outcome:
    """The result as text and as values."""
    try:
        labels, samples = (["rows"], []) if job.test == "chi_square" else _samples(job, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = (
                chi_square(job.samples or _contingency(job, data))
                if not samples
                else TESTS[job.test][0](job, samples)
            )
    except TableError as error:
        return Outcome(problem=str(error))
    if math.isnan(found.p):
        return Outcome(problem="the test has no result: a sample does not vary at all")
    return _outcome(job, found, labels, samples)


def _samples(job: TestJob, data: bytes) -> tuple[list[str], Samples]:
    """The samples and what they are called; what is missing is left out, in pairs where paired."""
    _, fewest, most = TESTS[job.test]
    if job.samples:
        labels = [f"sample {number}" for number in range(1, len(job.samples) + 1)]
        samples = job.samples
    elif job.group:
        labels, samples = _by_group(job, data)
    else:
        table = read_csv(data)
        labels = job.columns
        samples = [table.numbers(name) for name in job.columns]
        if job.test in ("paired_t_test", "pearson") and len(samples) == 2:
            pairs = [pair for pair in zip(*samples, strict=True) if not any(map(math.isnan, pair))]
            samples = [[one for one, _ in pairs], [two for _, two in pairs]]
    samples = [[one for one in sample if not math.isnan(one)] for sample in samples]
    if not fewest <= len(samples) <= most:
        needed = f"{fewest}" if fewest == most else f"{fewest} or more"
        raise TableError(f"{job.test} takes {needed} samples, and {len(samples)} were given")
    least = 3 if job.test in ("shapiro", "pearson") else 2
    for label, sample in zip(labels, samples, strict=True):
        if len(sample) < least:
            raise TableError(f"{label} has {len(sample)} values; at least {least} are needed")
    if job.test in ("paired_t_test", "pearson") and len(samples[0]) != len(samples[1]):
        raise TableError(
            f"the samples are not of one length ({len(samples[0])} and {len(samples[1])}), "
            "so they are no pairs"
        )
    return labels, samples


def _by_group(job: TestJob, data: bytes) -> tuple[list[str], Samples]:
    if len(job.columns) != 1:
        raise TableError("with `group`, name one column of values in `columns`")
    table = read_csv(data)
    groups, numbers = table.texts(job.group), table.numbers(job.columns[0])
    labels = list(dict.fromkeys(groups))
    if len(labels) > 100:
        raise TableError(f"the column {job.group} makes {len(labels)} groups; at most 100")
    return labels, [
        [number for number, group in zip(numbers, groups, strict=True) if group == label]
        for label in labels
    ]


def _contingency(job: TestJob, data: bytes) -> Samples:
    if len(job.columns) != 2:
        raise TableError("chi_square takes two columns, or a table of counts in `samples`")
    table = read_csv(data)
    one, two = (table.texts(name) for name in job.columns)
    counts = Counter(zip(one, two, strict=True))
    across, down = list(dict.fromkeys(two)), list(dict.fromkeys(one))
    if len(across) * len(down) > 10_000:
        raise TableError("these columns have too many different values for a table of counts")
    return [[float(counts[row, column]) for column in across] for row in down]


def _outcome(job: TestJob, found: Found, labels: list[str], samples: Samples) -> Outcome:
    effect, size = found.effect
    significant = found.p < job.alpha
    verdict = "significant" if significant else "not significant"
    lines = [
        found.name + ("" if job.alternative == "two-sided" else f" ({job.alternative})"),
        f"statistic {found.statistic:.6g}, p = {found.p:.4g}: {verdict} at alpha {job.alpha:g}",
        f"effect size: {effect} {size:.4g}",
        *(
            f"{label}: n {len(sample)}, mean {fmean(sample):.6g}, "
            f"standard deviation {stdev(sample):.6g}"
            for label, sample in zip(labels, samples, strict=False)
        ),
        *found.facts,
        "Assumptions:",
        *(f"- {assumption}" for assumption in found.assumptions),
    ]
    data: dict[str, object] = {
        "test": job.test,
        "statistic": found.statistic,
        "p": found.p,
        "significant": significant,
        "effect_name": effect,
        "effect_size": None if math.isnan(size) else size,
        "n": [len(sample) for sample in samples],
        "assumptions": found.assumptions,
    }
    return Outcome(text="\n".join(lines), data=data)
