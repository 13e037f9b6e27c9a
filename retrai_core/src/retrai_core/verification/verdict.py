"""The verdict: the result of a goal, compared with the baseline case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from ..contracts.goal import CaseOutcome, CheckReport, Contradiction, GoalResult
from .baseline import Baseline

_SHOWN = 10
DODGED: frozenset[CaseOutcome] = frozenset({"skipped", "xfailed"})


def judge(baseline: Baseline, result: GoalResult) -> GoalResult:
    """The goal's answer, or a refusal that says which baseline case did not count.

    `achieved` stands only when the runner ended well, no case of its report failed, every case of
    the baseline is still there, and none of them is now skipped or expected to fail. What the goal
    itself says of its cases is not enough: a plugin may forget one.
    """
    if not result.achieved:
        return result
    if result.report is None:
        return result if not baseline.cases else _refuse(result, "the check left no report")
    if not result.report.complete:
        return _refuse(result, "the runner did not end well, so its report does not count")
    if failing := result.failing:
        named = ", ".join(failing[:3])
        return _refuse(result, f"{len(failing)} failed in the check's own report: {named}")
    problems = [
        *_missing(baseline, result.report),
        *_dodged(baseline, result.report),
        *_excused(baseline, result.report),
    ]
    if not problems:
        return result
    listed = "\n".join(f"- {problem}" for problem in problems[:_SHOWN])
    more = f"\n- and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    others = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return replace(_refuse(result, problems[0] + others), details=f"{listed}{more}")


def suspicion(contradiction: Contradiction, fixed: Collection[str]) -> str:
    """Why a verdict is suspect although every case passed; empty when it is not.

    A case that the agent fixed and that passes whatever it expects was not fixed; of the others,
    a few may be insensitive for honest reasons (an object that equals many things), not most.
    """
    still = contradiction.still_passed
    functions = {function_of(case) for case in fixed}
    bent = [case for case in still if function_of(case) in functions]
    if not bent and 2 * len(still) <= len(contradiction.tried):
        return ""
    if contradiction.reason:
        return contradiction.reason
    idle = list(dict.fromkeys(bent or still))  # a case may have been tried twice
    named = ", ".join(idle[:3])
    if len(idle) == 1:
        return f"a case passes whatever it expects, so it proves nothing: {named}"
    return f"{len(idle)} cases pass whatever they expect, so they prove nothing: {named}"


def function_of(case: str) -> str:
    """A case's id without its parameters, which may come from the source."""
    return case.split("[", 1)[0]


def _refuse(result: GoalResult, reason: str) -> GoalResult:
    return replace(result, achieved=False, reason=reason, details=reason)


def _missing(baseline: Baseline, report: CheckReport) -> list[str]:
    now = _counted(report.cases)
    missing: list[str] = []
    for function, before in _counted(() if report.ids_may_change else baseline.cases).items():
        if function not in now and not _stands_for_more(function, now):
            missing.append(f"{function} is gone")
        elif 0 < now[function] < before:
            # Parameters may change with the source; with fewer of them less is tested.
            few = f"{function} has fewer cases than at the start: {now[function]} of {before}"
            missing.append(few)
    collected = sum(outcome != "error" for outcome in baseline.cases.values())
    if not missing and len(report.cases) < collected:
        few = "fewer cases were collected than at the start"
        missing.append(f"{few}: {len(report.cases)} of {collected}")
    return missing


def _counted(cases: Iterable[str]) -> Counter[str]:
    """How many cases each function has."""
    return Counter(map(function_of, cases))


def _stands_for_more(case: str, there: Iterable[str]) -> bool:
    """A file that could not be read is one failed case; fixed, its cases begin with its name."""
    return any(name.startswith((f"{case}::", f"{case}/")) for name in there)


def _dodged(baseline: Baseline, report: CheckReport) -> list[str]:
    """Cases that are left out now and were not; by function where parameters have changed."""
    allowed = _counted(_left_out(baseline.cases))
    known = _counted(baseline.cases)
    now = _counted(_left_out(report.cases))
    found: list[str] = []
    for case in _left_out(report.cases):
        before, function = baseline.cases.get(case), function_of(case)
        if before is not None and before not in DODGED:
            found.append(f"{case} is now {report.cases[case]}; it was {before}")
        elif before is None and function in known and now[function] > allowed[function]:
            found.append(f"{case} is {report.cases[case]}; at the start it was not there")
    return found


def _left_out(cases: Mapping[str, CaseOutcome]) -> list[str]:
    return [case for case, outcome in cases.items() if outcome in DODGED]


def _excused(baseline: Baseline, report: CheckReport) -> list[str]:
    """Files that tell the runner to look away more often than at the start.

    A file that was not there then may have been split off one that was: of such, only as many
    count as the whole project has more.
    """
    more = sum(report.excused.values()) - sum(baseline.excused.values())
    found: list[str] = []
    for path, times in report.excused.items():
        before = baseline.excused.get(path, 0)
        known = path in baseline.cases
        if times > before and (known or more > 0):
            found.append(f"{path} has more suppressions than at the start: {times}, not {before}")
    return found
