"""The goal `make-test`: `make test` exits 0, and did something."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    Completed,
    Contradiction,
    Detection,
    Environment,
    GoalBase,
    GoalResult,
    Marker,
    Suspicion,
    ToolError,
)
from retrai_goal_support import ShellWords, globs_below, missing_folder, suite_result

from .command_audit import audit_commands
from .command_environment import command_environment
from .command_files import CONFIGURATION, TESTS, files_in_command, named_files, steering_globs
from .made_before import MadeBefore
from .makefile import (
    NAMES,
    find_makefile,
    has_target,
    included_files,
    made_for,
    recipe_of,
    script_of,
)
from .merged_run import run_merged
from .place import PlaceOptions
from .trial_copy import TrialCopy
from .unmet_expectations import UnmetExpectations

PRIORITY = 80
HOW_TO_INSTALL = "install it with your system's packages (Debian: `apt-get install make`)"
PROMPT = """\
The goal is `make-test`: `make {target}` in {place} exits 0.

- Start from what it prints: the first error is the one to fix. Read the recipe of `{target}` in \
the Makefile to see what is run, and run the failing part alone while you work.
- The Makefile, `*.mk`, test files and the scripts that the recipe runs are protected; a new \
GNUmakefile or makefile, which make would read instead, is set aside.
- Fix the sources. A file named `{target}`, a swallowed exit status or an emptied recipe is no \
solution, and it is looked for.\
"""
_NOTHING = re.compile(
    r"^make(?:\[\d+\])?: (?:'(?P<target>.+)' is up to date|Nothing to be done for '(?P<other>.+)')",
    re.MULTILINE,
)
_ERROR = re.compile(r"^make(?:\[\d+\])?: \*\*\* (?P<what>.+?)(?:\.  Stop\.)?$", re.MULTILINE)


class MakeTestOptions(PlaceOptions):
    """Options of the goal `make-test`."""

    target: str = Field(
        default="test", pattern=r"^[\w./][\w./-]*$", json_schema_extra={"runs": True}
    )
    """Make target to run."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for make (`-j4 VERBOSE=1`), split like a shell line."""
    protect: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": False})
    """Globs of additional protected files that belong to the check."""


class MakeTestGoal(GoalBase[MakeTestOptions]):
    """`make test` exits 0 and ran something: where make says that there is nothing to be done, for
    a file of the target's name, say, the goal is not achieved. There is one case, the target; a
    Makefile or target that is missing, a time-out and a signal are no complete run. On the clean
    copy at the end `make clean` comes first where the Makefile has it, so that nothing built before
    counts."""

    name: ClassVar[str] = "make-test"
    summary: ClassVar[str] = "`make test` succeeds"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    markers: ClassVar[Sequence[Marker]] = tuple(Marker(name, "test:", PRIORITY) for name in NAMES)
    programs: ClassVar[Sequence[str]] = ("make",)
    protects: ClassVar[str] = (
        "the tests, what configures them, the makefile's check and the scripts that it runs"
    )
    steers: ClassVar[str] = (
        "new makefiles, a file of the target's name, and what programs load by themselves"
    )

    @classmethod
    def detect(cls, project: Path) -> Detection | None:
        makefile = find_makefile(project)
        if makefile is None or not has_target(_text(makefile), "test"):
            return None
        return Detection(f"{makefile.name}: the target `test`")

    async def ready(self) -> str | None:
        problem = await asyncio.to_thread(missing_folder, self.context.project, self.options.path)
        if problem:
            return problem
        if shutil.which("make") is None:
            return f"make is not installed; {HOW_TO_INSTALL}"
        folder = self.context.project / self.options.path
        if await asyncio.to_thread(find_makefile, folder) is None:
            return f"there is no Makefile in {folder}; name its folder with --option path=..."
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        begun = time.monotonic()
        result = await self._verdict(state, cwd)
        if not state and cwd == self.context.project and not result.achieved:
            await self._unmet.keep(cwd, self._passes_in, time.monotonic() - begun)
        return result

    async def _verdict(
        self, state: Mapping[str, Any], cwd: Path, writable: Sequence[Path] = ()
    ) -> GoalResult:
        folder = cwd / self.options.path
        command = ["make", *self.options.args, self.options.target]
        is_copy = cwd != self.context.project
        made = MadeBefore(self.context.run_dir / "make-test" / "made.json")
        try:
            if is_copy and await asyncio.to_thread(_has_clean, folder):
                await self._make(["make", "clean"], folder, writable)
            names = await asyncio.to_thread(self._made_for, folder)
            if is_copy:
                await asyncio.to_thread(made.remove_others, folder, names)
            elif not state:
                await asyncio.to_thread(made.keep, folder, names)
            done = await self._make(command, folder, writable)
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"make cannot be started: {error}")
        return self._judge(done, command)

    def system_prompt(self) -> str:
        place = "the project" if self.options.path == "." else self.options.path
        return PROMPT.format(target=self.options.target, place=place)

    def protected(self, project: Path) -> Sequence[str]:
        shared = globs_below(self.options.path, [*TESTS, *CONFIGURATION])
        makefile = find_makefile(project / self.options.path)
        if makefile is None:
            return [*shared, *self.options.protect]
        text, target, path = _text(makefile), self.options.target, self.options.path
        own = files_in_command(recipe_of(text, target), project, path)
        # A target that does nothing but run a script is that script.
        whole = [f"/{name}" for name in script_of(text, target)]
        read = globs_below(path, [*whole, *included_files(text)])
        return [*shared, *own, *read, *self.options.protect]

    def steering(self, project: Path) -> Sequence[str]:
        # A file of the target's name makes make believe that it is done; a folder holds tests.
        name = f"/{self.options.target}"
        path = self.options.path
        makefile = find_makefile(project / path)
        included = globs_below(path, included_files(_text(makefile)) if makefile else [])
        done = globs_below(path, [name])
        shared = steering_globs(path)
        return [*done, *(f"!{glob}/**" for glob in done), *shared, "*.mk", *included]

    def audit(self, diff: str) -> Sequence[Suspicion]:
        project, path = self.context.project, self.options.path
        makefile = find_makefile(project / path)
        recipe = recipe_of(_text(makefile), self.options.target) if makefile else ""
        return audit_commands(diff, project, named_files(recipe, project, path))

    async def environment(self, project: Path) -> Environment:
        return await asyncio.to_thread(command_environment, self.context.python, project)

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        async def holds() -> bool:
            return (await self._verdict({}, copy)).achieved

        case = f"make {self.options.target}"
        return await self._unmet.contradict(copy, case, holds)

    @property
    def _unmet(self) -> UnmetExpectations:
        place = self.context.run_dir / self.name / "unmet.json"
        return UnmetExpectations(place, self.protected(self.context.project))

    async def _passes_in(self, copy: TrialCopy) -> bool:
        return (await self._verdict({}, copy.folder, [copy.room])).achieved

    def _made_for(self, folder: Path) -> list[str]:
        makefile = find_makefile(folder)
        return made_for(_text(makefile), self.options.target) if makefile else []

    def _judge(self, done: Completed, command: Sequence[str]) -> GoalResult:
        name = f"make {self.options.target}"
        errors = [found["what"] for found in _ERROR.finditer(done.stdout)]
        problem = said = ""
        if done.timed_out:
            problem = f"make was still running after {self.options.timeout_s:g} s"
        elif done.exit_code < 0:
            problem = f"make was ended by signal {-done.exit_code}"
        elif any("No rule to make target" in error or "No targets" in error for error in errors):
            problem = f"make cannot begin: {errors[-1]}"
        elif any("missing separator" in line for line in done.stdout.splitlines()):
            problem = "make cannot read the Makefile: missing separator (a recipe wants a tab)"
        elif done.exit_code:
            said = f"{name} ended with exit status {done.exit_code}"
            said += f": {errors[0]}" if errors else ""
        elif self._did_nothing(done.stdout):
            said = f"{name} had nothing to do, so it tested nothing"
        result = suite_result(
            {} if problem else {name: "failed" if said else "passed"},
            command,
            problem=problem,
            failures={name: f"{said}\n\n{done.stdout[-12_000:]}"} if said else {},
            output=done.stdout,
        )
        reason = said or problem or f"{name} succeeds ({done.duration_s:.1f} s)"
        return GoalResult(result.achieved, reason, result.details, result.report)

    def _did_nothing(self, output: str) -> bool:
        named = {found["target"] or found["other"] for found in _NOTHING.finditer(output)}
        return self.options.target in named

    async def _make(
        self, command: Sequence[str], folder: Path, writable: Sequence[Path]
    ) -> Completed:
        return await run_merged(
            self.context.sandbox,
            command,
            timeout_s=self.options.timeout_s,
            cwd=folder,
            # What make says is looked at, and must not be in the user's language.
            env={"LC_MESSAGES": "C", "LANGUAGE": "C"},
            writable=writable,
        )


def _has_clean(folder: Path) -> bool:
    makefile = find_makefile(folder)
    return makefile is not None and has_target(_text(makefile), "clean")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
