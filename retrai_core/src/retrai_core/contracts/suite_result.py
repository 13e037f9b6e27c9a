"""The answer of a goal whose check is a test suite: one line for people, failures for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .goal import CaseOutcome, CheckReport, GoalResult
from .shortened import shorten

MAX_CHARS = 16_000
MAX_CHARS_PER_FAILURE = 4_000
MAX_FULL = 10
MAX_NAMES = 40
_FAILING = ("failed", "error")


def suite_result(
    cases: Mapping[str, CaseOutcome],
    command: Sequence[str],
    *,
    interpreter: str = "",
    problem: str = "",
    failures: Mapping[str, str] | None = None,
    output: str = "",
    max_chars: int = MAX_CHARS,
) -> GoalResult:
    """What one run of a test suite comes to; achieved when it was whole and every case is well.

    Args:
        cases: outcome by case id, in the runner's order.
        command: the exact command.
        interpreter: the program that ran the project's code.
        problem: one line that says why the run is not complete; empty when it is.
        failures: what the model reads of each failing case, by its id.
        output: the end of what was printed; given to the model where no case tells why.
        max_chars: the longest `details`, in characters.

    Example:
        >>> result = suite_result({"a": "passed", "b": "failed"}, ["t"], failures={"b": "1 != 2"})
        >>> result.achieved, result.reason
        (False, '1 of 2 tests fails')
        >>> print(result.details)
        FAILED b
        1 != 2
        >>> suite_result({"a": "passed", "b": "skipped"}, ["t"]).reason
        '1 test passes, 1 skipped'
    """
    report = CheckReport(cases, command, interpreter, complete=not problem)
    bad = [name for name, outcome in cases.items() if outcome in _FAILING]
    ran = any(outcome != "skipped" for outcome in cases.values())
    achieved = not problem and ran and not bad
    details = "" if achieved else _details(cases, problem, failures or {}, output, max_chars)
    return GoalResult(achieved, _reason(report, problem, len(bad)), details, report)


def _reason(report: CheckReport, problem: str, bad: int) -> str:
    total = len(report.cases)
    if problem:
        seen = f" ({bad} of {total} {_tests(total)} failed until then)" if total else ""
        return f"{problem}{seen}"
    counts = report.counts()
    left_out = "".join(
        f", {counts[name]} {name}" for name in ("skipped", "xfailed", "xpassed") if name in counts
    )
    if bad:
        return f"{bad} of {total} {_tests(total)} {'fails' if bad == 1 else 'fail'}{left_out}"
    if not total:
        return "no test was found"
    if counts.get("skipped", 0) == total:
        return f"no test was run: all {total} were skipped"
    passed = counts.get("passed", 0)
    return f"{passed} {_tests(passed)} {'passes' if passed == 1 else 'pass'}{left_out}"


def _details(
    cases: Mapping[str, CaseOutcome],
    problem: str,
    failures: Mapping[str, str],
    output: str,
    max_chars: int,
) -> str:
    parts = [f"The run is not complete: {problem}"] if problem else []
    told = {name: text for name, text in failures.items() if text.strip()}
    silent = [name for name, outcome in cases.items() if outcome in _FAILING and name not in told]
    left = max_chars - sum(map(len, parts))
    shown: list[str] = []
    for name, text in list(told.items())[:MAX_FULL]:
        title = "ERROR" if cases.get(name) == "error" else "FAILED"
        block = f"{title} {name}\n{shorten(text.strip(), MAX_CHARS_PER_FAILURE)}"
        if shown and len(block) > left - 500:
            break
        shown.append(name)
        parts.append(shorten(block, max(left, 200)))
        left -= len(block) + 2
    if rest := [name for name in told if name not in shown] + silent:
        more = f"\n- ... and {len(rest) - MAX_NAMES} more" if len(rest) > MAX_NAMES else ""
        listed = "\n".join(f"- {name}" for name in rest[:MAX_NAMES])
        also = "more failing" if shown else "failing"
        parts.append(f"{len(rest)} {also}:\n{listed}{more}")
    if output.strip() and (problem or not told):
        parts.append(f"The end of the output:\n{shorten(output.strip(), max(left // 2, 400))}")
    return shorten("\n\n".join(parts), max_chars)


def _tests(count: int) -> str:
    return "test" if count == 1 else "tests"
