"""What came of a run of pytest: in one line for people, and its failures for the model."""

from __future__ import annotations

import re

import retrai_goal_support
from retrai_goal_support import suite_result

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
    names_no_test = set(run.cases.values()) <= {"error"} and not any(
        "::" in case for case in run.cases
    )
    if run.complete and names_no_test:
        deselected = f" ({run.deselected} deselected)" if run.deselected else ""
        return f"no tests were collected{deselected}"
    said = suite_result(run.cases, run.command, problem=run.problem).reason
    if run.complete and not run.failures and run.exit_status != 0:
        return f"{said}, but pytest ended with exit status {run.exit_status}"
    return said


def render_failures(run: PytestRun, max_chars: int = 16_000, max_full: int = 10) -> str:
    """What failed, for the model, each error once; the end of the output where nothing is known.

    Args:
        run: the run.
        max_chars: the longest text, in characters.
        max_full: how many different errors are given in full.
    """
    return retrai_goal_support.render_failures(
        run.failures,
        problem=run.problem,
        output="" if run.failures or run.all_passed else run.output_tail,
        max_chars=max_chars,
        max_full=max_full,
    )
