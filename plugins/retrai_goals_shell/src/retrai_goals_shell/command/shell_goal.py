"""The goal `shell-goal`: a command of the user's own meets its conditions."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from retrai_core import CaseOutcome, CheckReport, Completed, GoalResult, ToolError
from retrai_goal_support import project_files, suite_result

from ..makefile import lacks_target
from .goal import CommandOptions, TestingCommandGoal
from .success_condition import SuccessCondition

_COMPARES_AGES = re.compile(r" -(?:nt|ot|newer)\b")
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


class ShellGoalOptions(CommandOptions):
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


class ShellGoal(TestingCommandGoal[ShellGoalOptions]):
    """The command `check_command` ends by itself and meets every part of `success_condition`: its
    exit status, texts or a pattern in what it prints (standard output and standard error together),
    and how long it takes. Each part is a case of its own. A command that is ended by its time-out
    or by a signal, or that does not exist, is no complete run."""

    name: ClassVar[str] = "shell-goal"
    summary: ClassVar[str] = "your own command meets its conditions"
    protects: ClassVar[str] = (
        "the tests, what configures them, and checking files that the command names"
    )

    async def ready(self) -> str | None:
        if problem := await super().ready():
            return problem
        folder = self.context.project / self.options.path
        is_named = "check_command" in self.options.model_fields_set
        if not is_named and await asyncio.to_thread(lacks_target, folder, "check"):
            return "no command is named; name it with --option check_command='...'"
        return None

    def shell_text(self, project: Path) -> str:
        return self.options.check_command

    def command(self) -> list[str]:
        return ["bash", "-c", self.options.check_command]

    async def verdict(self, cwd: Path, writable: Sequence[Path] = ()) -> GoalResult:
        command, folder = self.command(), cwd / self.options.path
        if cwd != self.context.project:
            await asyncio.to_thread(self._date_back, folder)
        try:
            done = await self.run_merged(command, folder, writable=writable)
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"the command cannot be started: {error}")
        problem = self._problem(done)
        judged = self.options.success_condition.judge(done)
        wrong = [finding for is_met, finding in judged.values() if not is_met]
        cases: dict[str, CaseOutcome] = {
            name: "passed" if is_met else "failed" for name, (is_met, _) in judged.items()
        }
        report = CheckReport(cases, command, complete=not problem)
        achieved = bool(cases) and not problem and not wrong
        passed = f"{', '.join(judged)} ({done.duration_s:.2f} s)"
        reason = problem or "; ".join(wrong) or passed
        details = "" if achieved else f"{reason}\n\n{_printed(done)}"
        return GoalResult(achieved, reason, details, report)

    def _date_back(self, copy: Path) -> None:
        """Make the empty files of the run old, in a copy: marks that something was checked, say, so
        that the check skips no work for them. Only where it compares ages."""
        if not any(map(_COMPARES_AGES.search, self.texts_of_check)):
            return
        for name in project_files(copy):
            original = self.context.project / self.options.path / name
            with suppress(FileNotFoundError, NotADirectoryError):
                if not original.lstat().st_size and self.changed_during_run(original):
                    os.utime(copy / name, (0, 0), follow_symlinks=False)

    def system_prompt(self) -> str:
        condition = self.options.success_condition.model_dump(exclude_none=True)
        wanted = ", ".join(f"{name} {value!r}" for name, value in condition.items() if value != [])
        own = [*self.own_files(self.context.project), *self.options.protect]
        return PROMPT.format(
            place=self.place,
            command=self.options.check_command,
            conditions=wanted or "that it ends",
            protected=f" ({', '.join(own)} among them)" if own else "",
        )

    def _problem(self, done: Completed) -> str:
        if problem := self.unfinished(done, "the command"):
            return problem
        # What bash says of a program that is not there, or that it may not run.
        if done.exit_code in (126, 127) and self.options.success_condition.exit_code == 0:
            last = (done.stdout.strip().splitlines() or ["no output"])[-1]
            return f"the command cannot be run: {last[:300]}"
        return ""


def _printed(done: Completed) -> str:
    text = done.stdout.strip()
    shown = text if len(text) <= 12_000 else f"{text[:4000]}\n...\n{text[-8000:]}"
    return f"It printed:\n{shown}" if text else "It printed nothing."
