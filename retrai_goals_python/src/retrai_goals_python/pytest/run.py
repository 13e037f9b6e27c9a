"""What one run of a project's pytest showed, and how people and the model are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import retrai_goal_support
from retrai_core import CaseOutcome, CheckReport
from retrai_goal_support import Failure, suite_result

from .report_lines import Calls

_NAMES_AN_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt)\b")


@dataclass(frozen=True, slots=True)
class PytestRun:
    """The result of `runner.run_pytest`.

    Attributes:
        cases: outcome by test id, in the order of collection. A file that cannot be collected is a
            case of its own with the outcome `error`, named by its path; a subtest that fails, fails
            its test; the second test of one id ends in `#2`.
        failures: every case with the outcome `failed` or `error`.
        complete: pytest itself said that the session ended, and every collected case has an
            outcome; failing tests do not make a run incomplete.
        exit_status: of the process; minus the signal's number when a signal ended it.
        command: the command, without the reporter of ours, which changes no outcome.
        interpreter: the Python that ran it, as it was given.
        duration_s: wall-clock seconds of the whole process.
        problem: one line that says why the run is not complete; empty when it is.
        deselected: how many cases `-k`, `-m` and the like left out.
        output_tail: the end of what pytest printed, for people.
        imported_from: files of the project or of its copy that were imported, where a copy was
            tested.
        calls: what the project's code answered each case, where that was asked for.
        pytest_version: of the project's environment; empty when it never started.
    """

    cases: Mapping[str, CaseOutcome]
    failures: tuple[Failure, ...]
    complete: bool
    exit_status: int
    command: tuple[str, ...]
    interpreter: str
    duration_s: float
    problem: str = ""
    deselected: int = 0
    output_tail: str = ""
    imported_from: tuple[str, ...] = ()
    calls: Mapping[str, Calls] = field(default_factory=dict[str, Calls])
    pytest_version: str = ""

    @property
    def all_passed(self) -> bool:
        """pytest ended well by its own account, some case was really run, and none failed."""
        ran = any(outcome != "skipped" for outcome in self.cases.values())
        return self.complete and self.exit_status == 0 and ran and not self.failures

    def counts(self) -> dict[str, int]:
        """How many cases had each outcome, by outcome name, sorted."""
        return self.to_report().counts()

    def to_report(self) -> CheckReport:
        """The part that the guard compares with the baseline."""
        return CheckReport(
            self.cases, self.command, self.interpreter, self.complete, self.imported_from
        )


def first_error(run: PytestRun) -> str:
    """Where and why the first broken file or fixture kept its tests from running; or nothing.

    Example:
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
