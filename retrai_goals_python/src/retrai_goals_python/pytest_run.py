"""What one run of a project's pytest showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from retrai_core import CaseOutcome, CheckReport

from .report_lines import Calls


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed or could not be run.

    Attributes:
        id: the case's id.
        outcome: `failed` (the test said no) or `error` (fixture, collection, or cut off).
        location: `file:line`, relative to the project where it lies inside; empty when unknown.
        message: the exception as pytest explains it, compared values included.
        text: what the model reads: the relevant source lines, the message, captured output; at
            most `max_chars_per_failure` characters.
    """

    id: str
    outcome: CaseOutcome
    location: str
    message: str
    text: str


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
