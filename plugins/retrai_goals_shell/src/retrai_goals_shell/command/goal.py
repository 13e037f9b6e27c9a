"""What the goals share whose check is a shell line: which files belong to it, and what bends it."""

from __future__ import annotations

import asyncio
import os
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from retrai_core import (
    Completed,
    Contradiction,
    Environment,
    GoalBase,
    GoalResult,
    Limits,
    RecordedCall,
    RunContext,
    Suspicion,
)
from retrai_goal_support import (
    PythonCalls,
    ShellWords,
    Trick,
    changed_lines,
    contradiction_of,
    globs_below,
    missing_folder,
    replay_python_calls,
    text_of,
)

from ..edits import read_editable
from ..expectations.in_shell import files_read_by_loops
from ..expectations.unmet import UnmetExpectations
from ..merged_run import OUTPUT_BYTES, merged
from ..place import PlaceOptions
from .audit import audit_commands, naming, standing_in
from .environment import command_environment
from .files import (
    CONFIGURATION,
    MAX_TEXT,
    TESTS,
    files_in_command,
    named_files,
    steering_globs,
)
from .recorded_programs import record_programs
from .scripts_of_check import read_by_check, resolve_target, scripts_of_check


class CommandOptions(PlaceOptions):
    """Where a command runs, and what belongs to it."""

    protect: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of additional protected files that belong to the check."""


CommandT = TypeVar("CommandT", bound=CommandOptions)
"""The options of a goal that builds on `CommandGoal`."""


class CommandGoal(GoalBase[CommandT]):
    """A goal that a shell line decides."""

    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    programs: ClassVar[Sequence[str]] = ("bash",)
    protects: ClassVar[str] = "the tests, and checking files that the command names"
    steers: ClassVar[str] = "new files that configure tests, or that programs load by themselves"
    shared_globs: ClassVar[Sequence[str]] = TESTS
    """What belongs to the check, whatever the shell line names."""
    tricks: ClassVar[Sequence[Trick]] = ()
    """What is looked for in changed sources of every language."""

    def __init__(self, options: CommandT, context: RunContext) -> None:
        super().__init__(options, context)
        self._recorded = PythonCalls()

    @abstractmethod
    def shell_text(self, project: Path) -> str:
        """What the shell runs; the files that it names and that check something belong to it."""

    def resolved_text(self, project: Path) -> str:
        """The same, or what make, just or npm run for it where it only starts them."""
        return self.shell_text(project)

    @cached_property
    def _own_at_start(self) -> list[str]:
        """The files of the check, as they were when the run began or went on."""
        return self.own_files(self.context.project)

    async def ready(self) -> str | None:
        return await asyncio.to_thread(missing_folder, self.context.project, self.options.path)

    def protected(self, project: Path) -> Sequence[str]:
        shared = globs_below(self.options.path, self.shared_globs)
        own = self._own_at_start if project == self.context.project else self.own_files(project)
        return [*shared, *own, *self.options.protect]

    def own_files(self, project: Path) -> list[str]:
        """Globs of the project's files that the shell line names and that check something."""
        return files_in_command(self.shell_text(project), project, self.options.path)

    def steering(self, project: Path) -> Sequence[str]:
        scripts = (text_of(project / name[1:], MAX_TEXT) for name in self.own_files(project))
        text = "\n".join([self.resolved_text(project), *scripts])
        return steering_globs(self.options.path, text)

    def audit(self, diff: str) -> Sequence[Suspicion]:
        project = self.context.project
        programs = named_files(self.resolved_text(project), project, self.options.path)
        files = [Path(name) for name in self._own_at_start]
        texts = zip(files, self.texts_of_check[1:], strict=True)
        headers = (text for file, text in texts if file.suffix in (".h", ".hpp"))
        tricks = [*self.tricks, *naming(files), *standing_in(headers)]
        return audit_commands(diff, project, programs, tricks)

    @cached_property
    def texts_of_check(self) -> list[str]:
        """What the shell runs, and the files of the check, which no run may change. They are read
        at first use, so in a thread."""
        project = self.context.project
        files = (text_of(project / name[1:], MAX_TEXT) for name in self._own_at_start)
        return [self.resolved_text(project), *files]

    def command(self) -> list[str]:
        """What the check starts; empty for a goal whose programs are not recorded."""
        return []

    async def record_calls(
        self, copy: Path, sources: Sequence[str], *, timeout_s: float
    ) -> Sequence[RecordedCall]:
        command, path = self.command(), self.options.path
        if command:
            self._recorded = await record_programs(
                self.context,
                command,
                self.shell_text(copy),
                copy,
                path,
                sources,
                timeout_s=min(timeout_s, self.options.timeout_s),
            )
        return self._recorded.calls

    async def replay_calls(
        self, copy: Path, calls: Sequence[RecordedCall], *, neighbors: int, timeout_s: float
    ) -> Sequence[RecordedCall]:
        sandbox, project, known = self.context.sandbox, self.context.project, self._recorded
        root = project if sandbox.arranges_view else copy

        def places() -> tuple[str, list[str]]:
            python = str(project / known.python)
            paths = [str(root / path) for path in known.paths if os.path.isdir(copy / path)]
            return python if known.python and os.path.isfile(python) else self.context.python, paths

        python, paths = await asyncio.to_thread(places)
        return await replay_python_calls(
            sandbox,
            python,
            root / self.options.path,
            calls,
            paths=paths,
            modules=known.modules,
            neighbors=neighbors,
            timeout_s=timeout_s,
            # What is slow, as the old code of a job is, is not waited for.
            cpu_s=timeout_s / 16,
        )

    async def environment(self, project: Path) -> Environment:
        return await asyncio.to_thread(command_environment, self.context.python, project)

    async def run_merged(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        env: Mapping[str, str] | None = None,
        writable: Sequence[Path] = (),
        readable: Sequence[Path] = (),
    ) -> Completed:
        """Run a program with both of its output streams in one.

        Raises:
            ToolError: it cannot be started.
        """
        return await self.context.sandbox.run(
            merged(command),
            timeout_s=self.options.timeout_s,
            cwd=folder,
            env=env,
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=writable,
            readable=readable,
        )

    @property
    def place(self) -> str:
        """The folder that it runs in, for people."""
        return "the project" if self.options.path == "." else self.options.path

    def unfinished(self, done: Completed, what: str) -> str:
        """Why a program did not end by itself, for people; empty where it did."""
        if done.timed_out:
            return f"{what} was still running after {self.options.timeout_s:g} s"
        return f"{what} was ended by signal {-done.exit_code}" if done.exit_code < 0 else ""


class TestingCommandGoal(CommandGoal[CommandT]):
    """A goal whose shell line runs tests: what they found unequal at first is contradicted."""

    __test__: ClassVar[bool] = False
    shared_globs: ClassVar[Sequence[str]] = (*TESTS, *CONFIGURATION)

    def resolved_text(self, project: Path) -> str:
        return resolve_target(self.shell_text(project), project / self.options.path)

    def own_files(self, project: Path) -> list[str]:
        path, text = self.options.path, self.resolved_text(project)
        return files_in_command(text, project, path, scripts_of_check(text, project, path))

    def audit(self, diff: str) -> Sequence[Suspicion]:
        prefix = "" if self.options.path == "." else f"{self.options.path}/"
        changed = dict.fromkeys(path.removeprefix(prefix) for _, path, _, _ in changed_lines(diff))
        return [*super().audit(diff), *read_by_check(self.texts_of_check, changed)]

    @abstractmethod
    async def verdict(self, cwd: Path, writable: Sequence[Path] = ()) -> GoalResult:
        """Run the shell line once.

        Args:
            cwd: the project or a copy of it.
            writable: folders beside it that the program may write.
        """

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        begun = time.monotonic()
        if cwd == self.context.project:
            await asyncio.to_thread(self._note_beginning)
        result = await self.verdict(cwd)
        if not state and cwd == self.context.project and not result.achieved:
            seconds = time.monotonic() - begun
            await (await asyncio.to_thread(self._unmet)).keep(cwd, seconds)
        return result

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        unmet = await asyncio.to_thread(self._unmet)
        case = ", ".join(cases)
        found = await unmet.contradict(copy, case)
        if not found.still_passed and (ignored := await self._ignores_last_case(copy)):
            return Contradiction([case], [case], f"the last case of {ignored} is not looked at")
        return found

    async def _ignores_last_case(self, copy: Path) -> str:
        """The file that the check reads case by case, in a loop, if it passes whatever the last one
        says: what the loop starts may have read the rest. Empty where it does not pass.

        Args:
            copy: of the project; the file in it is as it was afterwards.
        """
        for name in await asyncio.to_thread(self._files_of_cases):
            path = copy / self.options.path / name
            text = await asyncio.to_thread(read_editable, path)
            changed = [*_with_other_last_case(text or "")]
            if text is None or len(text) > MAX_TEXT or not changed or path.is_symlink():
                continue
            ignored = name
            for other in changed:
                await asyncio.to_thread(path.write_text, other, "utf-8")
                if not (await self.verdict(copy)).achieved:
                    ignored = ""
                    break
            await asyncio.to_thread(path.write_text, text, "utf-8")
            return ignored
        return ""

    def _files_of_cases(self) -> list[str]:
        return [*chain.from_iterable(map(files_read_by_loops, self.texts_of_check))]

    def changed_during_run(self, file: Path) -> bool:
        """Whether a file of the project was made or touched since the run began. Its status change
        time counts, which no command can set.

        Raises:
            FileNotFoundError, NotADirectoryError: it is not there.
        """
        begun = self._begun
        return begun.exists() and file.lstat().st_ctime_ns > begun.stat().st_mtime_ns

    @property
    def _begun(self) -> Path:
        """A file that is as old as the run."""
        return self.context.run_dir / self.name / "begun"

    def _note_beginning(self) -> None:
        self._begun.parent.mkdir(parents=True, exist_ok=True)
        if not self._begun.exists():
            self._begun.touch()

    def _unmet(self) -> UnmetExpectations:
        place = self.context.run_dir / self.name / "unmet.json"
        return UnmetExpectations(place, self.protected(self.context.project), self.verdict)


def _with_other_last_case(text: str) -> Iterator[str]:
    """The lines of a file with one more: the last one with another last word, then with another
    first word. Nothing where that is no case of some words."""
    lines = text.splitlines()
    words = lines[-1].split() if lines else []
    if len(lines) > 1 and len(words) > 1 and not words[0].startswith("#"):
        for at in (-1, 0):
            changed = [*words]
            changed[at] = contradiction_of(words[at]) or f"{words[at]}-retrai"
            yield "\n".join([*lines, " ".join(changed)]) + "\n"
