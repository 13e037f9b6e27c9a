"""What came of a run of pytest, in one line for people."""

from __future__ import annotations

import re

from .pytest_run import PytestRun

_NAMES_AN_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt)\b")


def first_error(run: PytestRun) -> str:
    """Where and why the first broken file or fixture kept its tests from running; or nothing.

    Example:
        >>> from .pytest_run import Failure
        >>> failure = Failure("test_a.py", "error", "a.py:1", "SyntaxError: expected ':'", "")
        >>> first_error(PytestRun({}, (failure,), True, 2, ("pytest",), "python3", 0.1))
        " (a.py:1: SyntaxError: expected ':', in test_a.py)"
    """
    broken = next((failure for failure in run.failures if failure.outcome == "error"), None)
    if broken is None or not broken.message.strip():
        return ""
    lines = broken.message.strip().splitlines()
    # Of a syntax error the place and the line come first; the exception is what says most.
    named = (line.strip() for line in reversed(lines) if _NAMES_AN_EXCEPTION.match(line.strip()))
    said = next(named, lines[0])[:200]
    if not broken.location:
        return f" ({broken.id}: {said})"
    elsewhere = "" if broken.location.startswith(f"{broken.id}:") else f", in {broken.id}"
    return f" ({broken.location}: {said}{elsewhere})"


def describe_run(run: PytestRun) -> str:
    """One line for people: what came of the run.

    Example:
        >>> cases = {"test_a.py::test_one": "passed", "test_a.py::test_two": "skipped"}
        >>> describe_run(PytestRun(cases, (), True, 0, ("pytest",), "python3", 0.1))
        '1 test passes, 1 skipped'
    """
    counts = run.counts()
    total = sum(counts.values())
    bad = counts.get("failed", 0) + counts.get("error", 0)
    left_out = "".join(
        f", {counts[name]} {name}" for name in ("skipped", "xfailed", "xpassed") if name in counts
    )
    if not run.complete:
        seen = f" ({bad} of {total} tests failed until then)" if total else ""
        return f"{run.problem}{seen}"
    if set(run.cases.values()) == {"error"} and not any("::" in case for case in run.cases):
        return "no tests were collected"
    if bad:
        verb = "fails" if bad == 1 else "fail"
        return f"{bad} of {total} {_tests(total)} {verb}{left_out}"
    if not total:
        deselected = f" ({run.deselected} deselected)" if run.deselected else ""
        return f"no tests were collected{deselected}"
    if counts.get("skipped", 0) == total:
        return f"no test was run: all {total} were skipped"
    passed = counts.get("passed", 0)
    said = f"{passed} {_tests(passed)} {'passes' if passed == 1 else 'pass'}{left_out}"
    if run.exit_status != 0:
        return f"{said}, but pytest ended with exit status {run.exit_status}"
    return said


def _tests(count: int) -> str:
    return "test" if count == 1 else "tests"
