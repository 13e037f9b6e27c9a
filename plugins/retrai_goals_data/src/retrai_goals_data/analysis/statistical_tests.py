"""The tests themselves: each says what it rests on, and whether that holds for these samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from .jobs import TestJob
from .tables import TableError

NORMAL_ENOUGH_P = 0.05
MAX_SHAPIRO = 5000

Samples = list[list[float]]


@dataclass
class Found:
    """What a test found.

    Attributes:
        name: of the test, for people.
        statistic, p: of the test.
        effect: an effect size and what it is called.
        facts: means, sizes, intervals.
        assumptions: what the test rests on, and whether it holds here.
    """

    name: str
    statistic: float
    p: float
    effect: tuple[str, float]
    facts: list[str] = field(default_factory=list[str])
    assumptions: list[str] = field(default_factory=list[str])


def _t_test(job: TestJob, samples: Samples) -> Found:
    one, two = samples
    stats = import_module("scipy.stats")
    found = stats.ttest_ind(one, two, equal_var=False, alternative=job.alternative)
    pooled = math.sqrt(
        ((len(one) - 1) * variance_of(one) + (len(two) - 1) * variance_of(two))
        / (len(one) + len(two) - 2)
    )
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        "Welch's t-test of two means",
        *_figures(found),
        ("Cohen's d", (mean_of(one) - mean_of(two)) / pooled if pooled else math.nan),
        [_interval("difference of the means", interval, job.alpha)],
        [*_normal(samples), "variances may differ (Welch)", "the observations are independent"],
    )


def _paired(job: TestJob, samples: Samples) -> Found:
    one, two = samples
    found = import_module("scipy.stats").ttest_rel(one, two, alternative=job.alternative)
    differences = [a - b for a, b in zip(one, two, strict=True)]
    spread = math.sqrt(variance_of(differences))
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        "paired t-test",
        *_figures(found),
        ("Cohen's d of the differences", mean_of(differences) / spread if spread else math.nan),
        [_interval("mean difference", interval, job.alpha)],
        [*_normal([differences], "the differences"), "the pairs are independent of each other"],
    )


def _one_sample(job: TestJob, samples: Samples) -> Found:
    (sample,) = samples
    stats = import_module("scipy.stats")
    found = stats.ttest_1samp(sample, job.mean, alternative=job.alternative)
    spread = math.sqrt(variance_of(sample))
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        f"t-test of one mean against {job.mean:g}",
        *_figures(found),
        ("Cohen's d", (mean_of(sample) - job.mean) / spread if spread else math.nan),
        [_interval("mean", interval, job.alpha)],
        [*_normal(samples), "the observations are independent"],
    )


def _mann_whitney(job: TestJob, samples: Samples) -> Found:
    one, two = samples
    found = import_module("scipy.stats").mannwhitneyu(one, two, alternative=job.alternative)
    effect = 2 * float(found.statistic) / (len(one) * len(two)) - 1
    return Found(
        "Mann-Whitney U test",
        *_figures(found),
        ("rank-biserial correlation", effect),
        [f"medians {_median(one):g} and {_median(two):g}"],
        ["the observations are independent", "a difference of medians, if the shapes are alike"],
    )


def _anova(job: TestJob, samples: Samples) -> Found:
    stats = import_module("scipy.stats")
    found = stats.f_oneway(*samples)
    every = [value for sample in samples for value in sample]
    whole = mean_of(every)
    between = sum(len(sample) * (mean_of(sample) - whole) ** 2 for sample in samples)
    total = sum((value - whole) ** 2 for value in every)
    levene = float(stats.levene(*samples).pvalue)
    alike = "holds" if levene >= NORMAL_ENOUGH_P else "is doubtful"
    return Found(
        "one-way ANOVA",
        *_figures(found),
        ("eta squared", between / total if total else math.nan),
        [],
        [
            *_normal(samples),
            f"equal variances: {alike} (Levene, p = {levene:.3g})",
            "the observations are independent",
        ],
    )


def _shapiro(job: TestJob, samples: Samples) -> Found:
    (sample,) = samples
    stats = import_module("scipy.stats")
    found = stats.shapiro(sample)
    return Found(
        "Shapiro-Wilk test of normality",
        *_figures(found),
        ("skewness", float(stats.skew(sample))),
        [f"excess kurtosis {float(stats.kurtosis(sample)):.3g}"],
        ["a small p speaks against a normal distribution"]
        + (["p is not exact for more than 5000 values"] if len(sample) > MAX_SHAPIRO else []),
    )


def _pearson(job: TestJob, samples: Samples) -> Found:
    one, two = samples
    found = import_module("scipy.stats").pearsonr(one, two, alternative=job.alternative)
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        "Pearson correlation",
        *_figures(found),
        ("r squared", float(found.statistic) ** 2),
        [_interval("r", interval, job.alpha)],
        [*_normal(samples), "the relation is linear", "the pairs are independent of each other"],
    )


def chi_square(counts: Samples) -> Found:
    """Whether rows and columns of a table of counts have to do with each other.

    Raises:
        TableError: it is no such table.
    """
    if len(counts) < 2 or len({len(row) for row in counts}) != 1 or len(counts[0]) < 2:
        raise TableError("chi_square takes a table of counts with two rows and columns or more")
    if any(value < 0 or value != int(value) for row in counts for value in row):
        raise TableError("chi_square takes counts: whole numbers, none below 0")
    if any(sum(row) == 0 for row in [*counts, *map(list, zip(*counts, strict=True))]):
        raise TableError("a row or column of the table of counts is empty")
    found = import_module("scipy.stats").chi2_contingency(counts)
    total = sum(map(sum, counts))
    least = min(len(counts), len(counts[0])) - 1
    small = float(found.expected_freq.min())
    enough = "holds" if small >= 5 else "is doubtful"
    return Found(
        "chi-square test of independence",
        *_figures(found),
        ("Cramér's V", math.sqrt(float(found.statistic) / (total * least))),
        [f"{total:g} observations, {int(found.dof)} degrees of freedom"],
        [
            f"expected counts of 5 or more: {enough} (least {small:.3g})",
            "the observations are independent",
        ],
    )


TESTS: dict[str, Callable[[TestJob, Samples], Found]] = {
    "t_test": _t_test,
    "paired_t_test": _paired,
    "one_sample_t_test": _one_sample,
    "mann_whitney": _mann_whitney,
    "anova": _anova,
    "shapiro": _shapiro,
    "pearson": _pearson,
}


def _normal(samples: Samples, what: str = "") -> list[str]:
    """Whether the samples look normal, by Shapiro-Wilk."""
    stats = import_module("scipy.stats")
    said: list[str] = []
    for number, sample in enumerate(samples, start=1):
        name = what or (f"sample {number}" if len(samples) > 1 else "the sample")
        if not 3 <= len(sample) <= MAX_SHAPIRO:
            said.append(f"normality of {name}: not tested ({len(sample)} values)")
            continue
        p = float(stats.shapiro(sample).pvalue)
        holds = "holds" if p >= NORMAL_ENOUGH_P else "is doubtful"
        said.append(f"normality of {name}: {holds} (Shapiro-Wilk, p = {p:.3g})")
    return said


def _figures(found: Any) -> tuple[float, float]:
    return float(found.statistic), float(found.pvalue)


def _interval(what: str, interval: Any, alpha: float) -> str:
    low, high = float(interval.low), float(interval.high)
    return f"{what}: {100 * (1 - alpha):g} % interval {low:.4g} to {high:.4g}"


def mean_of(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def variance_of(values: Sequence[float]) -> float:
    mean = mean_of(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
