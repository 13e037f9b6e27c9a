"""What one run of a project's pytest showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from retrai_core import CaseOutcome, CheckReport
from retrai_goal_support import Failure

from .report_lines import Calls


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
