"""A goal: a check that a machine can run, and the files that must not change to make it pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal

from pydantic import BaseModel, ConfigDict, Field

from .context import RunContext
from .models import OptionsT, TakesModels

CaseOutcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check, case by case; the guard compares it with the baseline.

    Attributes:
        cases: outcome by case id, in the runner's order. Ids are stable between checks.
        command: the exact command that was run.
        interpreter: the program that ran the project's code; empty where there is none.
        complete: the runner itself says that it ended well (a crash, a time-out or a missing
            report is False; failing tests are not).
        imported_from: where a copy of the project was checked, the absolute paths of the project's
            code that was loaded, as far as the goal can tell. A path in the original is code that
            the copy has not vouched for.
        excused: by path, how often a checked file tells the runner to look away (an ignore
            comment, say); more than at the start is no pass.
        ids_may_change: the cases are source files, say, which honest work may rename; then only
            their number must not shrink.
    """

    cases: Mapping[str, CaseOutcome]
    command: Sequence[str]
    interpreter: str = ""
    complete: bool = True
    imported_from: Sequence[str] = ()
    excused: Mapping[str, int] = field(default_factory=dict[str, int])
    ids_may_change: bool = False

    def counts(self) -> dict[str, int]:
        """How many cases had each outcome, by outcome name, sorted."""
        found: dict[str, int] = {}
        for outcome in self.cases.values():
            found[outcome] = found.get(outcome, 0) + 1
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call from a case into the project's own code, and what it answered.

    Attributes:
        case: the case that made it; empty for a call that no case makes.
        call: as one would write it (`total([1, 2])`); equal calls have equal texts. Empty, with an
            empty answer, for a case that failed an assertion and could not be followed. The case
            itself is a call too where it can be made outside; it answers `passes`, `fails`, or what
            it raises.
        answer: the value, the error, and what the call changed in its arguments, as one line;
            empty where it is not known.
        replay: what makes the same call again, for the goal alone; empty where nothing can.
        plain: the case does nothing beside making calls and comparing answers: it replaces nothing
            and sets up nothing, so the call must have the same answer everywhere.
        compared: at the baseline, the two values that the case found unequal, as Python or JSON
            write them. Where another comparison failed, its operator comes third (`in`, `<`).
            Empty where it failed otherwise.
        late: this is the answer after many other calls, given twice; before them the call gave
            another one, also twice.
    """

    case: str
    call: str
    answer: str
    replay: str = ""
    plain: bool = False
    compared: Sequence[str] = ()
    late: bool = False


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The result of one check.

    Attributes:
        achieved: the goal passes, as far as the goal itself can tell.
        reason: one line for people (`2 of 20 tests fail`).
        details: what the model needs to go on: failures with location and relevant lines.
        report: the cases; None only where a goal has no notion of a case.
        cut_off: how the check was ended before it could answer, so that this is no verdict on the
            tree. The core fills it in by how the commands ended; a goal whose check is not a
            command may too.
        calls: what the project's code answered the cases, as far as the goal records it: at the
            baseline those that failed, on a copy those that failed at the baseline and pass. A case
            that turned green must have seen other answers than before. One that could not be
            followed has no calls.
    """

    achieved: bool
    reason: str
    details: str = ""
    report: CheckReport | None = None
    cut_off: Literal["", "killed", "timed_out"] = ""
    calls: Sequence[RecordedCall] = ()

    @property
    def cases(self) -> Mapping[str, CaseOutcome]:
        """The outcomes by case id, in the runner's order; empty without a report."""
        return {} if self.report is None else self.report.cases

    @property
    def failing(self) -> list[str]:
        """The cases that failed, in the runner's order."""
        return [case for case, outcome in self.cases.items() if outcome in ("failed", "error")]


@dataclass(frozen=True, slots=True)
class Detection:
    """Why a goal fits a project: `evidence` is what was found (`pyproject.toml: [tool.x]`).

    Where it is empty, the marker is the evidence.
    """

    evidence: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Marker:
    """A sign of a goal in a project that the scan can look for without loading the goal.

    Attributes:
        glob: a file or folder at the project's root (`pyproject.toml`, `tests/`).
        contains: text that the file must have; empty for any.
        priority: the lower, the earlier it is offered; 20 is pytest's, 80 a Makefile's.
    """

    glob: str
    contains: str = ""
    priority: int = 50


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something in a diff that may be a trick; it is reported and never decides the verdict."""

    path: str
    line: int
    what: str
    reaches_runner: bool = False
    """The source reaches into the runner or reads the tests: a suspect by itself."""
    sign: Literal["", "unchanged", "unknown", "unproven"] = ""
    """Makes a case that turned green suspect: where the code answered it as before (`unchanged`),
    also where no other answer is known (`unknown`), or where the new answers could not all be
    reproduced without tests (`unproven`)."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The result of changing expected values in a copy of the project.

    Attributes:
        tried: cases that an honest project must fail now.
        still_passed: those of them that passed all the same.
        reason: what that shows, in one line; empty for the core's own words.
    """

    tried: Sequence[str] = ()
    still_passed: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Files outside the project that affect its check, by absolute path.

    Attributes:
        files: the runner's own and its plugins'. Those that are there at the baseline are kept, and
            put back when they are changed or gone.
        steering: what runs before the runner, or adds to it. The same, and one that comes later is
            set aside.
    """

    files: Sequence[Path] = ()
    steering: Sequence[Path] = ()


class GoalOptions(BaseModel):
    """Base of a goal's options; unknown keys are errors.

    `json_schema_extra={"aliases": ["limit"]}` on a field names aliases: files and flags may use
    them, and everything that retrai shows or writes has the field's own name.
    """

    model_config = ConfigDict(extra="forbid")

    system_prompt: str = Field(default="", json_schema_extra={"loosens": False})
    """Text for the model, added to the goal's own part of the system prompt."""


class GoalBase(TakesModels, ABC, Generic[OptionsT]):
    """A goal that a machine can check.

    One instance serves one run. `check` may be called many times, also on a clean copy of the
    project (`cwd` differs from `context.project` then), and must start its processes through
    `context.sandbox` only.

    Example:
        >>> class FileExistsOptions(GoalOptions):
        ...     path: str
        >>> class FileExists(GoalBase[FileExistsOptions]):
        ...     name = "file-exists"
        ...     summary = "a file exists"
        ...     async def check(self, state, cwd):
        ...         there = (cwd / self.options.path).is_file()
        ...         cases = {self.options.path: "passed" if there else "failed"}
        ...         report = CheckReport(cases, command=["test", "-f", self.options.path])
        ...         return GoalResult(there, "there" if there else "missing", report=report)
        ...     def system_prompt(self):
        ...         return f"Create the file {self.options.path}."
        >>> FileExists.Options(path="a.txt").path
        'a.txt'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    markers: ClassVar[Sequence[Marker]] = ()
    programs: ClassVar[Sequence[str]] = ()
    """What must be on PATH (`cargo`); `retrai plugins doctor` looks for it without an import."""
    protects: ClassVar[str] = ""
    """What `protected` names, in words, for `retrai goals show`."""
    steers: ClassVar[str] = ""
    """What `steering` names, in words."""
    default_tools: ClassVar[Sequence[str]] = (
        "bash_exec",
        "file_read",
        "file_list",
        "file_write",
        "file_patch",
        "grep_search",
        "find_files",
        "git_diff",
    )
    Options: type[GoalOptions] = GoalOptions

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @classmethod
    def detect(cls, project: Path) -> Detection | None:
        """Whether this goal fits `project`; called only where one of `markers` was found.

        By default it does. Without evidence of its own, the marker is what is shown.
        """
        return Detection("") if cls.markers else None

    async def ready(self) -> str | None:
        """A problem that must be said before the first step (a missing runner), or None."""
        return None

    async def impossible(self) -> str | None:
        """Why no change of the project can achieve the goal, or None; asked after a first check
        that failed. No run begins then."""
        return None

    @abstractmethod
    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        """Run the check in `cwd` and say what it found.

        A runner that crashes, hangs or leaves no report is a result with `achieved=False` and
        `report.complete=False`, not an exception.

        Args:
            state: the loop's state, read-only; empty for the baseline, and for copies whose
                calls need not be recorded.
            cwd: the project, or a clean copy of it.
        """

    async def check_without(
        self, state: Mapping[str, Any], cwd: Path, paths: Sequence[str]
    ) -> GoalResult | None:
        """The same check, for which some of its own files count for nothing; None by default.

        What a run added to the tests must not be what makes the other tests pass. Sources may still
        import such a file.

        Args:
            state: as `check` gets it.
            cwd: a clean copy of the project.
            paths: files that the goal protects, relative, and that were not there at the start.
        """
        return None

    @abstractmethod
    def system_prompt(self) -> str:
        """What the model must know of this goal: what counts, what is protected, good practice."""

    def protected(self, project: Path) -> Sequence[str]:
        """Globs (gitignore syntax, relative) of existing files that the agent may not change."""
        return ()

    def steering(self, project: Path) -> Sequence[str]:
        """Globs (gitignore syntax) of files that steer the runner; new ones are set aside."""
        return ()

    async def external_state(self, project: Path) -> str:
        """A fingerprint of what lies outside the tree and changes the verdict; empty for none."""
        return ""

    async def environment(self, project: Path) -> Environment:
        """Files outside the project that decide the verdict, as they are now; none by default.

        Leave out what an honest run may add: a missing dependency, the project's own installation.
        """
        return Environment()

    async def audit_environment(self, project: Path, since_s: float) -> Sequence[Suspicion]:
        """What changed outside the project, beyond `environment`, since a moment.

        Args:
            project: the project.
            since_s: seconds since the epoch; when the baseline was taken.
        """
        return ()

    def audit(self, diff: str) -> Sequence[Suspicion]:
        """Suspicious additions in a unified diff of the run's changes."""
        return ()

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        """Change what some checks in `copy` expect, run those, and say which passed nevertheless.

        A project that gives real answers fails a check that expects another one. Change only what
        must fail: exact expectations that are surely reached. Nothing tried is no suspicion.

        Args:
            copy: a copy of the project that the goal may change; it is thrown away.
            cases: ids that passed there, those that matter most first.
        """
        return Contradiction()

    async def record_calls(
        self, copy: Path, sources: Sequence[str], *, timeout_s: float
    ) -> Sequence[RecordedCall]:
        """Run the check in `copy` once more, and record its calls into `sources`.

        For a goal whose checks record no calls themselves. These calls and others near them are
        made again on the old and the new code, and people are shown what differs. No verdict rests
        on them. Nothing by default.

        Args:
            copy: a copy of the project, as it is now or as it was before the run. The goal leaves
                it as it is: the calls are made again there.
            sources: what the run changed, relative to the project.
            timeout_s: wall-clock seconds.
        """
        return ()

    async def replay_calls(
        self, copy: Path, calls: Sequence[RecordedCall], *, neighbors: int, timeout_s: float
    ) -> Sequence[RecordedCall]:
        """Make recorded calls again in `copy`, in a process that runs no tests.

        The answers there must be those that the tests saw. Nothing by default.

        Args:
            copy: a copy of the project, as it is now or as it was before the run. The goal may
                change it; it is thrown away.
            calls: from the results of checks.
            neighbors: at most so many more calls are made, with arguments near the recorded ones.
                They follow the others, and have no case. The same ones on every copy.
            timeout_s: wall-clock seconds; what is not answered by then is left out.

        Returns:
            the calls with their answers there, those without one left out.
        """
        return ()

    async def aclose(self) -> None:
        """Release what this goal holds; called once, also after a failed run."""
        return None
