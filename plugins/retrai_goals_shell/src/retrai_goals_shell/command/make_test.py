"""The goal `make-test`: `make test` exits 0, and did something."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from retrai_core import Completed, Detection, GoalResult, Marker, ToolError
from retrai_goal_support import ShellWords, globs_below, suite_result

from ..makefile import (
    NAMES,
    find_makefile,
    has_target,
    included_files,
    lacks_target,
    made_for,
    makefile_text,
    recipe_of,
)
from .goal import CommandOptions, TestingCommandGoal

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
_ENV = {"LC_MESSAGES": "C", "LANGUAGE": "C"}
"""What make says is looked at, and must not be in the user's language."""
_NOTHING = re.compile(
    r"^make(?:\[\d+\])?: (?:'(?P<target>.+)' is up to date|Nothing to be done for '(?P<other>.+)')",
    re.MULTILINE,
)
_ERROR = re.compile(r"^make(?:\[\d+\])?: \*\*\* (?P<what>.+?)(?:\.  Stop\.)?$", re.MULTILINE)


class MakeTestOptions(CommandOptions):
    """Options of the goal `make-test`."""

    target: str = Field(
        default="test", pattern=r"^[\w./][\w./-]*$", json_schema_extra={"runs": True}
    )
    """Make target to run."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for make (`-j4 VERBOSE=1`), split like a shell line."""


class MakeTestGoal(TestingCommandGoal[MakeTestOptions]):
    """`make test` exits 0 and ran something: where make says that there is nothing to be done, for
    a file of the target's name, say, the goal is not achieved. There is one case, the target; a
    Makefile or target that is missing, a time-out and a signal are no complete run. On the clean
    copy at the end `make clean` comes first where the Makefile has it, and object files of the run
    are made again, so that nothing built before counts."""

    name: ClassVar[str] = "make-test"
    summary: ClassVar[str] = "`make test` succeeds"
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
        if makefile is None or not has_target(makefile_text(project), "test"):
            return None
        return Detection(f"{makefile.name}: the target `test`")

    async def ready(self) -> str | None:
        if problem := await super().ready():
            return problem
        if shutil.which("make") is None:
            return f"make is not installed; {HOW_TO_INSTALL}"
        folder = self.context.project / self.options.path
        if await asyncio.to_thread(find_makefile, folder) is None:
            return f"there is no Makefile in {folder}; name its folder with --option path=..."
        target = self.options.target
        if await asyncio.to_thread(lacks_target, folder, target):
            return f"the Makefile in {folder} has no target {target}; name one: --option target=..."
        return None

    def shell_text(self, project: Path) -> str:
        return recipe_of(makefile_text(project / self.options.path), self.options.target)

    def command(self) -> list[str]:
        return ["make", *self.options.args, self.options.target]

    async def verdict(self, cwd: Path, writable: Sequence[Path] = ()) -> GoalResult:
        folder = cwd / self.options.path
        command = self.command()
        text = await asyncio.to_thread(makefile_text, folder)
        try:
            if cwd != self.context.project:
                if has_target(text, "clean"):
                    await self.run_merged(["make", "clean"], folder, env=_ENV, writable=writable)
                made = made_for(text, self.options.target)
                await asyncio.to_thread(self._remove_made_since, folder, made)
            done = await self.run_merged(command, folder, env=_ENV, writable=writable)
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"make cannot be started: {error}")
        return self._judge(done, command)

    def system_prompt(self) -> str:
        return PROMPT.format(target=self.options.target, place=self.place)

    def own_files(self, project: Path) -> list[str]:
        return [*super().own_files(project), *self._included(project)]

    def steering(self, project: Path) -> Sequence[str]:
        # A file of the target's name makes make believe that it is done; a folder holds tests.
        done = globs_below(self.options.path, [f"/{self.options.target}"])
        shared = super().steering(project)
        included = self._included(project)
        return [*done, *(f"!{glob}/**" for glob in done), *shared, "*.mk", *included]

    def _included(self, project: Path) -> list[str]:
        text = makefile_text(project / self.options.path)
        return globs_below(self.options.path, included_files(text))

    def _remove_made_since(self, copy: Path, names: Sequence[str]) -> None:
        """Take away, in a copy, what was made or touched since the run began: make makes it
        again."""
        # Rules for patterns name no object file. One without a source may be data.
        objects = list(copy.rglob("*.o"))
        stems = {path.stem for path in copy.rglob("*.[csS]*")} if objects else set[str]()
        compiled = [str(path.relative_to(copy)) for path in objects if path.stem in stems]
        for name in dict.fromkeys([*names, *compiled]):
            original = self.context.project / self.options.path / name
            with suppress(FileNotFoundError, NotADirectoryError):
                if self.changed_during_run(original) and not original.is_dir():
                    (copy / name).unlink()

    def _judge(self, done: Completed, command: Sequence[str]) -> GoalResult:
        name = f"make {self.options.target}"
        errors = [found["what"] for found in _ERROR.finditer(done.stdout)]
        problem = self.unfinished(done, "make")
        if done.exit_code and not problem:
            problem = _why_not_begun(done.stdout, errors)
        failure = "" if problem else self._why_failed(done, errors)
        result = suite_result(
            {} if problem else {name: "failed" if failure else "passed"},
            command,
            problem=problem,
            failures={name: f"{failure}\n\n{done.stdout[-12_000:]}"} if failure else {},
            output=done.stdout,
        )
        reason = problem or failure or f"{name} succeeds ({done.duration_s:.1f} s)"
        return replace(result, reason=reason)

    def _why_failed(self, done: Completed, errors: Sequence[str]) -> str:
        target = self.options.target
        if done.exit_code:
            failure = f"make {target} ended with exit status {done.exit_code}"
            return f"{failure}: {errors[0]}" if errors else failure
        idle = {found["target"] or found["other"] for found in _NOTHING.finditer(done.stdout)}
        return f"make {target} had nothing to do, so it tested nothing" if target in idle else ""


def _why_not_begun(output: str, errors: Sequence[str]) -> str:
    """What is wrong with the Makefile itself; empty where nothing is."""
    if any("No rule to make target" in error or "No targets" in error for error in errors):
        return f"make cannot begin: {errors[-1]}"
    if "missing separator" in output:
        return "make cannot read the Makefile: missing separator (a recipe wants a tab)"
    return ""
