"""The tests themselves: each says what it rests on, and whether that holds for these samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from statistics import fmean, median, stdev, variance
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
        ((len(one) - 1) * variance(one) + (len(two) - 1) * variance(two))
        / (len(one) + len(two) - 2)
    )
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        "Welch's t-test of two means",
        *_figures(found),
        ("Cohen's d", (fmean(one) - fmean(two)) / pooled if pooled else math.nan),
        [_interval("difference of the means", interval, job.alpha)],
        [*_normal(samples), "variances may differ (Welch)", "the observations are independent"],
    )


def _paired(job: TestJob, samples: Samples) -> Found:
    one, two = samples
    found = import_module("scipy.stats").ttest_rel(one, two, alternative=job.alternative)
    differences = [a - b for a, b in zip(one, two, strict=True)]
    spread = stdev(differences)
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        "paired t-test",
        *_figures(found),
        ("Cohen's d of the differences", fmean(differences) / spread if spread else math.nan),
        [_interval("mean difference", interval, job.alpha)],
        [*_normal([differences], "the differences"), "the pairs are independent of each other"],
    )


def _one_sample(job: TestJob, samples: Samples) -> Found:
    (sample,) = samples
    stats = import_module("scipy.stats")
    found = stats.ttest_1samp(sample, job.mean, alternative=job.alternative)
    spread = stdev(sample)
    interval = found.confidence_interval(1 - job.alpha)
    return Found(
        f"t-test of one mean against {job.mean:g}",
        *_figures(found),
        ("Cohen's d", (fmean(sample) - job.mean) / spread if spread else math.nan),
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
        [f"medians {median(one):g} and {median(two):g}"],
        ["the observations are independent", "a difference of medians, if the shapes are alike"],
    )


def _anova(job: TestJob, samples: Samples) -> Found:
    stats = import_module("scipy.stats")
    found = stats.f_oneway(*samples)
    every = [value for sample in samples for value in sample]
    whole = fmean(every)
    between = sum(len(sample) * (fmean(sample) - whole) ** 2 for sample in samples)
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


TESTS: dict[str, tuple[Callable[[TestJob, Samples], Found], int, int]] = {
    "t_test": (_t_test, 2, 2),
    "paired_t_test": (_paired, 2, 2),
    "one_sample_t_test": (_one_sample, 1, 1),
    "mann_whitney": (_mann_whitney, 2, 2),
    "anova": (_anova, 2, 100),
    "shapiro": (_shapiro, 1, 1),
    "pearson": (_pearson, 2, 2),
}
"""By name: the test, and the fewest and the most samples that it takes."""


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
