"""From what the measuring process found to the verdict, case by case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from retrai_core import CaseOutcome

from .database.definitions import changed_definitions
from .database.jobs import Answer, Report, TableState

DATA = "the tables hold what they held"
SAMPLES = "the same rows on samples of the data"


@dataclass
class Verdict:
    """Cases with their outcome, what failed, and the figures."""

    cases: dict[str, CaseOutcome] = field(default_factory=dict[str, CaseOutcome])
    failures: list[str] = field(default_factory=list[str])
    details: list[str] = field(default_factory=list[str])
    figures: str = ""

    def add(self, case: str, problem: str, detail: str = "") -> None:
        """One case, which failed where there is a problem."""
        self.cases[case] = "failed" if problem else "passed"
        if problem:
            self.failures.append(problem)
            self.details.append(detail or problem)

    def expect_rows(self, expected: int, found: int) -> None:
        """A case for the number of rows that the user expects."""
        problem = "" if found == expected else f"it gives {found} rows, {expected} are expected"
        self.add(f"{expected} rows", problem)

    @property
    def achieved(self) -> bool:
        return not self.failures

    @property
    def reason(self) -> str:
        """One line: the figures, and what is wrong."""
        return "; ".join([*self.failures, self.figures] if self.failures else [self.figures])


def judge(
    report: Report,
    first: Answer,
    tables: Mapping[str, TableState],
    max_ms: float,
    redefined: Sequence[str] = (),
) -> Verdict:
    """Hold a report against the first check's.

    Args:
        report: with the rows, the times and the tables.
        first: the rows at the start.
        tables: what the query read at the start, as it was then.
        max_ms: the limit for the median.
        redefined: tables and views that may become something else with the same rows.
    """
    assert report.answer is not None
    verdict = Verdict(figures=figures(report.times_ms, max_ms))
    verdict.add(DATA, *_data_problem(tables, report.tables, redefined))
    same = report.answer.same_as(first)
    # The digest in the name: a verdict on other data is not taken for the same.
    rows = f"the same {first.rows} rows as at the start ({first.content[0][:12]})"
    if not report.stable:
        problem = "it gives other rows from run to run"
        verdict.add(rows, problem, f"{problem}; an ORDER BY that leaves no ties may be missing")
    else:
        problem = "" if same else "it gives other rows than at the start"
        verdict.add(rows, problem, f"{problem}:\n{report.difference}")
    verdict.add(
        SAMPLES,
        "on samples of the data it gives other rows" if report.samples_differ else "",
        report.samples_differ,
    )
    slow = median(report.times_ms) >= max_ms
    verdict.add(f"median under {max_ms:g} ms", "it is too slow" if slow else "")
    if report.not_sampled:
        verdict.details.append(f"Not compared on samples: {report.not_sampled}.")
        verdict.figures += f" (not compared on samples of the data: {report.not_sampled})"
    return verdict


def figures(times_ms: Sequence[float], max_ms: float) -> str:
    """The median with its spread.

    Example:
        >>> figures([12.0, 10.0, 11.0], 20)
        'median 11.0 ms of 3 runs (10.0 to 12.0), limit 20 ms'
    """
    middle = median(times_ms)
    runs = "run" if len(times_ms) == 1 else "runs"
    return (
        f"median {middle:.1f} ms of {len(times_ms)} {runs} "
        f"({min(times_ms):.1f} to {max(times_ms):.1f}), limit {max_ms:g} ms"
    )


def _data_problem(
    before: Mapping[str, TableState],
    now: Mapping[str, TableState],
    redefined: Sequence[str],
) -> tuple[str, str]:
    found: list[str] = []
    others: dict[str, None] = {}
    for name, state in before.items():
        there = now.get(name)
        if there is None:
            found.append(f"{name} is gone")
        elif there.columns != state.columns:
            found.append(f"{name} has other columns")
        elif there.rows != state.rows:
            found.append(f"{name} has {there.rows} rows, {state.rows} at the start")
        elif there.digest != state.digest:
            found.append(f"{name} has other values")
        if there is not None:
            others |= dict.fromkeys(changed_definitions(state.made_of, there.made_of, redefined))
    if not found and not others:
        return "", ""
    listed = "; ".join([*found, *others])
    if not found:
        allow = "The user can allow it with `allow_redefined`."
        return f"what is read was made anew ({listed})", f"{listed}. Restore it. {allow}"
    return f"the data was changed ({listed})", f"The data may not be changed: {listed}. Restore it."
