"""The goal `shell-goal`: a command of the user's own meets its conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from retrai_core import (
    Completed,
    Contradiction,
    Environment,
    GoalBase,
    GoalResult,
    Suspicion,
    ToolError,
)
from retrai_goal_support import ShellWords, globs_below, missing_folder, suite_result

from .command_audit import audit_commands
from .command_environment import command_environment
from .command_files import CONFIGURATION, TESTS, files_in_command, named_files, steering_globs
from .merged_run import run_merged
from .place import PlaceOptions
from .success_condition import SuccessCondition
from .trial_copy import TrialCopy
from .unmet_expectations import UnmetExpectations

PROMPT = """\
The goal is `shell-goal`: this command, run by bash in {place}, meets its conditions:

    {command}

Conditions: {conditions}.

- Start from what the command prints. Run it yourself while you work; the check runs it \
again, as it is, at the end on a clean copy of the project.
- Change what the command looks at, not the command: its scripts, tests and their configuration \
are protected{protected}.
- Printing what the condition asks for without doing what it stands for is no solution.
- If the conditions contradict each other or cannot be met, say so.\
"""


class ShellGoalOptions(PlaceOptions):
    """Options of the goal `shell-goal`."""

    check_command: str = Field(default="make check", min_length=1, json_schema_extra={"runs": True})
    """Shell line to run as the check."""
    success_condition: SuccessCondition = Field(
        default_factory=SuccessCondition, json_schema_extra={"loosens": True}
    )
    """Conditions that must all be met: `exit_code` (0), `output_contains`, `output_matches`,
    `max_seconds`."""

    @field_validator("success_condition", mode="before")
    @classmethod
    def _empty_is_the_default(cls, value: object) -> object:
        return {} if value is None else value

    protect: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of additional protected files that belong to the check."""


class ShellGoal(GoalBase[ShellGoalOptions]):
    """The command `check_command` ends by itself and meets every part of `success_condition`: its
    exit status, texts or a pattern in what it prints (standard output and standard error together),
    and how long it takes. Each part is a case of its own. A command that is ended by its time-out
    or by a signal, or that does not exist, is no complete run."""

    name: ClassVar[str] = "shell-goal"
    summary: ClassVar[str] = "your own command meets its conditions"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    programs: ClassVar[Sequence[str]] = ("bash",)
    protects: ClassVar[str] = (
        "the tests, what configures them, and checking files that the command names"
    )
    steers: ClassVar[str] = "new files that configure tests, or that programs load by themselves"

    async def ready(self) -> str | None:
        return await asyncio.to_thread(missing_folder, self.context.project, self.options.path)

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        begun = time.monotonic()
        result = await self._verdict(cwd)
        if not state and cwd == self.context.project and not result.achieved:
            await self._unmet.keep(cwd, self._passes_in, time.monotonic() - begun)
        return result

    async def _verdict(self, cwd: Path, writable: Sequence[Path] = ()) -> GoalResult:
        line = self.options.check_command
        command = ["bash", "-c", line]
        try:
            done = await run_merged(
                self.context.sandbox,
                command,
                timeout_s=self.options.timeout_s,
                cwd=cwd / self.options.path,
                env={},
                writable=writable,
            )
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"the command cannot be started: {error}")
        problem = self._problem(done)
        judged = self.options.success_condition.judge(done)
        result = suite_result(
            {name: outcome for name, (outcome, _) in judged.items()},
            command,
            problem=problem,
            failures={
                name: said for name, (outcome, said) in judged.items() if outcome == "failed"
            },
        )
        if problem:
            return GoalResult(False, problem, _printed(done), result.report)
        wrong = [said for outcome, said in judged.values() if outcome == "failed"]
        reason = "; ".join(wrong) or f"{', '.join(judged)} ({done.duration_s:.2f} s)"
        details = "" if not wrong else f"{reason}\n\n{_printed(done)}"
        return GoalResult(result.achieved, reason, details, result.report)

    def system_prompt(self) -> str:
        condition = self.options.success_condition.model_dump(exclude_none=True)
        wanted = ", ".join(f"{name} {value!r}" for name, value in condition.items() if value != [])
        own = [*self._own(self.context.project), *self.options.protect]
        return PROMPT.format(
            place="the project" if self.options.path == "." else self.options.path,
            command=self.options.check_command,
            conditions=wanted or "that it ends",
            protected=f" ({', '.join(own)} among them)" if own else "",
        )

    def protected(self, project: Path) -> Sequence[str]:
        shared = globs_below(self.options.path, [*TESTS, *CONFIGURATION])
        return [*shared, *self._own(project), *self.options.protect]

    def steering(self, project: Path) -> Sequence[str]:
        return steering_globs(self.options.path)

    def audit(self, diff: str) -> Sequence[Suspicion]:
        line, project = self.options.check_command, self.context.project
        return audit_commands(diff, project, named_files(line, project, self.options.path))

    async def environment(self, project: Path) -> Environment:
        return await asyncio.to_thread(command_environment, self.context.python, project)

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        async def holds() -> bool:
            return (await self._verdict(copy)).achieved

        case = ", ".join(cases)
        return await self._unmet.contradict(copy, case, holds)

    @property
    def _unmet(self) -> UnmetExpectations:
        place = self.context.run_dir / self.name / "unmet.json"
        return UnmetExpectations(place, self.protected(self.context.project))

    async def _passes_in(self, copy: TrialCopy) -> bool:
        return (await self._verdict(copy.folder, [copy.room])).achieved

    def _own(self, project: Path) -> list[str]:
        return files_in_command(self.options.check_command, project, self.options.path)

    def _problem(self, done: Completed) -> str:
        if done.timed_out:
            return f"the command was still running after {self.options.timeout_s:g} s"
        if done.exit_code < 0:
            return f"the command was ended by signal {-done.exit_code}"
        # What bash says of a program that is not there, or that it may not run.
        if done.exit_code in (126, 127) and self.options.success_condition.exit_code == 0:
            last = (done.stdout.strip().splitlines() or ["no output"])[-1]
            return f"the command cannot be run: {last[:300]}"
        return ""


def _printed(done: Completed) -> str:
    text = done.stdout.strip()
    shown = text if len(text) <= 12_000 else f"{text[:4000]}\n...\n{text[-8000:]}"
    return f"It printed:\n{shown}" if text else "It printed nothing."
