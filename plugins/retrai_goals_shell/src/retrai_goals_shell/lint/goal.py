"""The goal `lint`: a linter finds nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from retrai_core import (
    CaseOutcome,
    CheckReport,
    Completed,
    Contradiction,
    Environment,
    GoalResult,
    Limits,
    Suspicion,
    ToolError,
    tree_files,
)
from retrai_goal_support import globs_below, suite_result, text_of

from ..cargo.environment import cargo_environment, tool_chain_folders
from ..command.files import SHADOWS
from ..command.goal import CommandGoal, CommandOptions
from ..merged_run import OUTPUT_BYTES
from .excuses import excuses_in
from .guarding import (
    UNREADABLE,
    FirstFindings,
    Moved,
    audit_lint,
    source_texts,
    undefined_names,
)
from .linters import BY_NAME, CONFIGURATION, Finding, Linter, LinterError, find_linter

MOST_SHOWN = 60
MAX_BLANK = 10_000
"""A file is empty where so many characters are blanks."""
PROMPT = """\
The goal is `lint`: {what} finds nothing in {place}.

- Start from the findings you are given, and fix the cause of each in the source. Keep what the \
code does: a finding is no reason to delete a feature or a file.
- The linter's configuration is protected, and a new one is set aside. So are the files that say \
what is ignored.
- A comment that tells the linter to look away (`# noqa`, `eslint-disable`, `#[allow(...)]`, \
`//nolint`) is no fix: there may be no more of them than at the start.
- Run the linter yourself while you work{run}. It may fix some findings by itself; read its diff.\
"""


class LintOptions(CommandOptions):
    """Options of the goal `lint`."""

    lint_command: str = Field(default="", json_schema_extra={"runs": True})
    """Shell line that runs the linter; exit status 0 means no findings. Default: the linter that
    the project has a configuration of."""
    linter: Literal["auto", "ruff", "eslint", "clippy", "golangci-lint"] = Field(
        default="auto", json_schema_extra={"loosens": True}
    )
    """Linter to run where there is no `lint_command`; `auto` looks for its configuration, in this
    order."""


class LintGoal(CommandGoal[LintOptions]):
    """The linter ends well and reports no finding. Without `lint_command`, ruff, eslint, clippy or
    golangci-lint is run, by the configuration in the project, and its own report is read: each
    source file that it looks at is a case, and their number must not shrink; empty files do not
    count. With `lint_command` the exit status decides, as one case. Suppression comments are
    counted for each file, broader ones more. The check fails if there are more than at the start.
    For ruff, only comments that hide a finding count. clippy and golangci-lint do not say which
    files they look at: all files of the language count. At the end, code that was moved into a new
    file must be linted there, and a Python function with a finding must still do something.
    """

    name: ClassVar[str] = "lint"
    summary: ClassVar[str] = "a linter finds nothing (ruff, eslint, clippy, golangci-lint, yours)"
    programs: ClassVar[Sequence[str]] = ()
    protects: ClassVar[str] = "the linters' configuration, and the files that say what is ignored"
    steers: ClassVar[str] = "new configuration of linters, and new ignore files"
    _known: FirstFindings | None = None

    def shell_text(self, project: Path) -> str:
        return self.options.lint_command

    async def ready(self) -> str | None:
        problem = await super().ready()
        if problem or self.options.lint_command:
            return problem
        try:
            await asyncio.to_thread(self._linter, self.context.project / self.options.path)
        except LinterError as error:
            return str(error)
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        result, findings = await self._lint(cwd)
        if not state and cwd == self.context.project and not result.achieved:
            await asyncio.to_thread(self._note, findings, result.details)
        return result

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        first = await asyncio.to_thread(self._first)
        if first is None or not cases:
            return Contradiction()
        case = cases[0]
        if emptied := await asyncio.to_thread(first.emptied, copy):
            return Contradiction([case], [case], f"{emptied} had a finding, and does nothing now")
        # What git does not know yet, a command that asks it cannot see.
        if re.search(r"\bgit\b", self.options.lint_command):
            return Contradiction()
        names = await asyncio.to_thread(self._sources, copy, ())
        moved = await asyncio.to_thread(first.moved, copy, names)
        for each in moved:
            if await self._is_out_of_sight(copy, each):
                what = f"{each.name} stands in {each.new} now, where the linter does not look"
                return Contradiction([case], [case], what)
        return Contradiction([case] if moved else [])

    async def _is_out_of_sight(self, copy: Path, moved: Moved) -> bool:
        """Whether the linter would find what nobody can read where the code stood, and does not
        where it stands."""
        text = await asyncio.to_thread(text_of, copy / moved.new) + UNREADABLE
        return await self._passes_with(copy, moved.new, text) and not (
            await self._passes_with(copy, moved.old, text)
        )

    async def _passes_with(self, copy: Path, name: str, text: str) -> bool:
        """Whether the linter has no finding where a file of the copy has another text."""
        path = copy / name
        is_there = await asyncio.to_thread(path.exists)
        before = await asyncio.to_thread(path.read_bytes) if is_there else b""
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        try:
            await asyncio.to_thread(path.write_text, text, "utf-8")
            return (await self._lint(copy))[0].achieved
        except OSError:  # it may not be written
            return False
        finally:
            with suppress(OSError):
                if is_there:
                    await asyncio.to_thread(path.write_bytes, before)
                else:
                    await asyncio.to_thread(path.unlink)

    def audit(self, diff: str) -> Sequence[Suspicion]:
        first = self._first() or FirstFindings()
        runs_code = not first.linter or BY_NAME[first.linter].runs_code
        of_what_runs = super().audit(diff) if runs_code else []
        return [*of_what_runs, *audit_lint(diff, self.context.project, first)]

    def _first(self) -> FirstFindings | None:
        """What the linter found when the run began, read once; None before it is known."""
        if self._known is None:
            self._known = FirstFindings.load(self._first_findings)
        return self._known

    @property
    def _first_findings(self) -> Path:
        return self.context.run_dir / "lint" / "first.json"

    def _note(self, findings: Sequence[Finding], printed: str) -> None:
        project = self.context.project
        lines: dict[str, list[int]] = {}
        for each in findings:
            lines.setdefault(self._below + each.path, []).append(each.line)
        first = FirstFindings(
            linter="" if self.options.lint_command else self._name(),
            lines=lines,
            undefined=undefined_names(printed),
            texts=source_texts(project, self._sources(project, ())),
        )
        first.save(self._first_findings)

    async def _lint(self, cwd: Path) -> tuple[GoalResult, Sequence[Finding]]:
        """The verdict on a tree, and what the linter found, where its report is read."""
        folder = cwd / self.options.path
        if self.options.lint_command:
            return await self._by_command(cwd, folder), ()
        command = ["lint"]
        try:
            linter = await asyncio.to_thread(self._linter, folder)
            command = linter.command
            done = await self._start(command, folder)
            findings = linter.read(done, folder)
            if linter.list_files:
                done = await self._start([linter.program, *linter.list_files], folder)
            looked_at = linter.read_files(done, folder)
            names = await asyncio.to_thread(self._sources, cwd, linter.suffixes)
            excused = await self._excused(linter, cwd, folder, names)
        except LinterError as error:
            printed = error.output.strip()[-4000:]
            return suite_result({}, command, problem=str(error), output=printed), ()
        except (ToolError, FileNotFoundError) as error:
            problem = f"{command[0]} cannot be started: {error}"
            return suite_result({}, command, problem=problem), ()
        if looked_at is not None:
            names = [name for name in names if name.removeprefix(self._below) in looked_at]
        return self._judge(linter, findings, names, excused), findings

    async def _excused(
        self, linter: Linter, cwd: Path, folder: Path, names: Sequence[str]
    ) -> Mapping[str, int]:
        """How often each file tells the linter to look away. Comments that are known to hide
        nothing do not count."""
        count = partial(excuses_in, cwd, names, linter.excuses)
        excused = await asyncio.to_thread(count)
        if not excused or not linter.report_unused:
            return excused
        done = await self._start([*linter.command, *linter.report_unused], folder)
        unused = {(self._below + name, line) for name, line in linter.read_unused(done, folder)}
        return await asyncio.to_thread(count, unused)

    @property
    def _below(self) -> str:
        return "" if self.options.path == "." else f"{self.options.path.strip('/')}/"

    def system_prompt(self) -> str:
        command = self.options.lint_command
        what = f"`{command}`" if command else self._name()
        return PROMPT.format(
            what=what,
            place=self.place,
            run="" if command else f" (`{' '.join(BY_NAME[self._name()].by_hand)}`)",
        )

    def protected(self, project: Path) -> Sequence[str]:
        return [*CONFIGURATION, *self.own_files(project), *self.options.protect]

    def steering(self, project: Path) -> Sequence[str]:
        return [*CONFIGURATION, *SHADOWS, *globs_below(self.options.path, SHADOWS)]

    async def external_state(self, project: Path) -> str:
        if self.options.lint_command:
            return ""
        try:
            linter = await asyncio.to_thread(self._linter, project / self.options.path)
            done = await self._start([linter.program, "--version"], project)
        except (LinterError, ToolError, FileNotFoundError) as error:
            return str(error)
        return done.stdout.strip()

    async def environment(self, project: Path) -> Environment:
        found = await super().environment(project)
        if self.options.lint_command:
            return found
        linter = await asyncio.to_thread(self._configured, project)
        programs = [Path(linter.program)] if linter else []
        files = [*found.files, *(path for path in programs if path.is_absolute())]
        return replace(found, files=files)

    def _name(self) -> str:
        """The linter's name; the first that fits where none is configured, for words alone."""
        if linter := self._configured(self.context.project):
            return linter.name
        return "ruff" if self.options.linter == "auto" else self.options.linter

    def _configured(self, project: Path) -> Linter | None:
        with suppress(LinterError):
            return self._linter(project / self.options.path)
        return None

    def _linter(self, folder: Path) -> Linter:
        """The linter of a folder.

        Raises:
            LinterError: none is configured there, or it is not installed.
        """
        return find_linter(folder, self.options.linter, self.context.python)

    async def _start(self, command: Sequence[str], folder: Path) -> Completed:
        build = self.context.run_dir / "lint" / "build"
        await asyncio.to_thread(build.mkdir, parents=True, exist_ok=True)
        return await self.context.sandbox.run(
            command,
            timeout_s=self.options.timeout_s,
            cwd=folder,
            env=dict(cargo_environment(build, offline=True)) | {"NO_COLOR": "1"},
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=[build],
            readable=tool_chain_folders(),
        )

    async def _by_command(self, cwd: Path, folder: Path) -> GoalResult:
        command = ["bash", "-c", self.options.lint_command]
        try:
            done = await self.run_merged(command, folder, readable=tool_chain_folders())
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"the command cannot be started: {error}")
        printed = done.stdout.strip()[-8000:]
        problem = self.unfinished(done, "the command")
        if not problem and done.exit_code in (126, 127):
            problem = f"the command cannot be run: {printed[-300:]}"
        case = "the linter finds nothing"
        outcome: CaseOutcome = "passed" if done.exit_code == 0 else "failed"
        names = await asyncio.to_thread(self._sources, cwd, ())
        excused = await asyncio.to_thread(excuses_in, cwd, names)
        report = CheckReport({case: outcome}, command, complete=not problem, excused=excused)
        achieved = not problem and outcome == "passed"
        reason = problem or ("no findings" if achieved else f"exit status {done.exit_code}")
        details = "" if achieved else f"It printed:\n{printed}"
        return GoalResult(achieved, reason, details, report)

    def _sources(self, cwd: Path, suffixes: Sequence[str]) -> list[str]:
        """The project's source files below the folder, relative to the project, ignored and
        empty ones left out."""
        return [
            name
            for name in tree_files(cwd)
            if name.startswith(self._below)
            and (not suffixes or name.endswith(tuple(suffixes)))
            and not _is_blank(cwd / name)
        ]

    def _judge(
        self,
        linter: Linter,
        findings: Sequence[Finding],
        names: Sequence[str],
        excused: Mapping[str, int],
    ) -> GoalResult:
        found = {self._below + finding.path for finding in findings}
        cases: dict[str, CaseOutcome] = dict.fromkeys(names, "passed")
        cases |= dict.fromkeys(sorted(found), "failed")
        report = CheckReport(
            cases, linter.command, linter.program, excused=excused, ids_may_change=True
        )
        if not cases:
            problem = f"there is no file for {linter.name}"
            return suite_result({}, linter.command, problem=problem)
        if not findings:
            return GoalResult(True, f"{linter.name} finds nothing", "", report)
        count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
        files = "1 file" if len(found) == 1 else f"{len(found)} files"
        reason = f"{linter.name}: {count} in {files}"
        lines = [str(finding) for finding in findings[:MOST_SHOWN]]
        if len(findings) > MOST_SHOWN:
            lines.append(f"and {len(findings) - MOST_SHOWN} more")
        return GoalResult(False, reason, "\n".join([reason, *lines]), report)


def _is_blank(path: Path) -> bool:
    return path.is_file() and not text_of(path, MAX_BLANK).strip()
