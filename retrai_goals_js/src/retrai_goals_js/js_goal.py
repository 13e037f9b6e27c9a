"""What both goals here share: what is protected, what is looked for, how a run becomes a result."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    ToolError,
)
from retrai_goal_support import (
    FolderOptions,
    contradict_suite,
    fresh_folder,
    globs_below,
    missing_folder,
    play_calls,
    suite_result,
    without_files,
)

from .js_audit import audit_js
from .js_contradiction import FORMS, compared, failed_line
from .js_guarding import PROTECTED, STEERING, installed_fingerprint
from .new_test_files import loaded_by_none
from .node_programs import program_folders, user_configuration
from .package_json import TestScript
from .recorded_calls import (
    BEFORE,
    MATCHER,
    BeforeRun,
    Recording,
    add_recorder,
    copy_project,
    has_matchers,
    player,
    read_recording,
    remove_tests,
)
from .suite_run import SuiteRun, readable

OUTPUT_BYTES = 10_000_000
VERSION_TIMEOUT_S = 30.0
MAX_PRINTED = 2500
PROMPT = """\
The goal is `{name}`: {what}.

- Start from the failures you are given: the message with expected and received values, and the \
place. A file that cannot be loaded hides all its tests: fix that first.
- {one_test}; `js_exec` runs a piece of code that imports the project's modules. Nothing can be \
installed: use the packages that are there.
- Fix the source, not the tests. Test files, snapshots, mocks, package.json, lock files and the \
configuration of runner, compiler and package manager are protected; new ones that steer the \
runner are set aside.
- A test counts only when it ran and passed. `skip`, `todo`, `only`, ending the process, reaching \
into the runner and answers made only for what the tests ask are no solution, and they are looked \
for.
- Every test that passes now must still pass at the end.\
"""


class JsOptions(FolderOptions):
    """Where a check runs, and how long it may take."""

    timeout_s: float = Field(default=300.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one run of the whole suite."""


JsOptionsT = TypeVar("JsOptionsT", bound=JsOptions)
"""The options of a goal that builds on `JsGoal`."""


class JsGoal(GoalBase[JsOptionsT]):
    """A goal that a JavaScript test runner decides."""

    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    protects: ClassVar[str] = (
        "the tests, their helpers and snapshots, and what configures the runner"
    )
    steers: ClassVar[str] = "new files that configure the runner, or that it loads by itself"
    default_tools: ClassVar[Sequence[str]] = (*GoalBase.default_tools, "js_exec")
    what: ClassVar[str]
    """What must hold, for the model."""
    one_test: ClassVar[str]
    """How to run a part of the tests, for the model."""

    def __init__(self, options: JsOptionsT, context: RunContext) -> None:
        super().__init__(options, context)
        self._version = ""
        self._signs: Mapping[str, bool] = {}

    @property
    def _before(self) -> BeforeRun:
        return BeforeRun.load(self.context.run_dir / BEFORE) or BeforeRun()

    @abstractmethod
    async def run_suite(self, folder: Path, reports: Path) -> tuple[SuiteRun, Completed | str]:
        """Run all tests in `folder`, with reports in `reports`; what came of it, or why nothing."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command as a person would type it."""

    @abstractmethod
    def program(self) -> str | None:
        """The program that runs the project's code; None where it is not installed."""

    def script(self, folder: Path) -> TestScript | str:
        """How a script of the project starts the runner, or why none does."""
        return ""

    async def ready(self) -> str | None:
        return await asyncio.to_thread(missing_folder, self.context.project, self.options.path)

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        result, run = await self._run_once(cwd)
        if cwd != self.context.project:
            if not (result.achieved and state):
                return result
            recording = await self._record(cwd, self._before.failed, run)
            self._signs = recording.signs
            return replace(result, calls=recording.calls)
        if state:
            return result
        failed = run.failed()
        recording = await self._record(cwd, failed, run)
        texts = run.failures.items()
        before = BeforeRun(
            failed=failed,
            answers={case: compared(text) for case, text in texts},
            lines={case: line for case, text in texts if (line := failed_line(case, text))},
            signs=sorted(recording.signs),
            has_matchers=bool(failed) and await asyncio.to_thread(has_matchers, cwd),
        )
        await asyncio.to_thread(before.save, self.context.run_dir / BEFORE)
        return replace(result, calls=recording.calls)

    async def _record(self, project: Path, cases: Sequence[str], known: SuiteRun) -> Recording:
        """Record what these cases see, on a copy; nothing where they end otherwise there."""
        if not cases:
            return Recording()
        path = self.options.path
        script = self.script(project / path)
        # Its `import` becomes `require`, so that no module can be awaited.
        hoists = isinstance(script, TestScript) and script.runner == "jest"
        try:
            async with fresh_folder("retrai-js") as room:
                calls = room / "calls"
                copy = await asyncio.to_thread(copy_project, project, room / "copy")
                await asyncio.to_thread(add_recorder, copy / path, cases, calls, hoisted=hoists)
                _, recorded = await self._run_in(room, copy)
                recording = await asyncio.to_thread(
                    read_recording, calls, cases, project / path, _line_of(script)
                )
        except OSError:
            return Recording()  # a file that went meanwhile
        # A test that nobody records may depend on how long something takes.
        for case in cases:
            if recorded.cases.get(case) != known.cases.get(case):
                told = f"{case.partition('::')[0]} ends otherwise where its calls are recorded"
                # What was replaced is what passed the test.
                return Recording((), {told: False, **dict.fromkeys(recording.signs, True)})
        return recording

    async def _run_once(self, cwd: Path) -> tuple[GoalResult, SuiteRun]:
        async with fresh_folder("retrai-js") as room:
            return await self._run_in(room, cwd)

    async def _run_in(self, room: Path, cwd: Path) -> tuple[GoalResult, SuiteRun]:
        """Run all tests, which may write to `room`."""
        folder = cwd / self.options.path
        try:
            run, done = await self.run_suite(folder, room)
        except (ToolError, FileNotFoundError) as error:
            run, done = SuiteRun(), f"the runner cannot be started: {error}"
        if isinstance(done, str):
            return suite_result({}, self.command(), problem=done), run
        printed = readable(f"{done.stdout[-8000:]}\n{done.stderr[-8000:]}", folder)
        for case in run.failures:
            if "::" not in case:
                # Why a file cannot be loaded stands in the output only, with some runners.
                run.failures[case] += f"\n\n{printed[-MAX_PRINTED:]}"
                break
        result = suite_result(
            run.cases,
            self.command(),
            interpreter=self.program() or "",
            problem=self._problem(run, done, printed),
            failures=run.failures,
            output=printed,
        )
        return result, run

    def system_prompt(self) -> str:
        return PROMPT.format(name=self.name, what=self.what, one_test=self.one_test)

    async def check_without(
        self, state: Mapping[str, Any], cwd: Path, paths: Sequence[str]
    ) -> GoalResult | None:
        tests = await asyncio.to_thread(loaded_by_none, cwd, paths)
        if not tests:
            return None
        with without_files(cwd, tests):
            return (await self._run_once(cwd))[0]

    def protected(self, project: Path) -> Sequence[str]:
        return globs_below(self.options.path, PROTECTED)

    def steering(self, project: Path) -> Sequence[str]:
        return globs_below(self.options.path, STEERING)

    def audit(self, diff: str) -> Sequence[Suspicion]:
        return audit_js(diff, self.context.project)

    async def environment(self, project: Path) -> Environment:
        return Environment(steering=user_configuration())

    async def external_state(self, project: Path) -> str:
        version = await self.version()
        folders = dict.fromkeys([project / self.options.path, project])
        return f"{version} {await asyncio.to_thread(installed_fingerprint, *folders)}"

    async def audit_environment(self, project: Path, since_s: float) -> Sequence[Suspicion]:
        """What the project's code replaced while the tests ran, and did not before the run."""
        before = self._before
        found = {sign: alone for sign, alone in self._signs.items() if sign not in before.signs}
        if before.has_matchers:
            # A function of them that failed before the run answered with none.
            found = {sign: alone and not sign.endswith(MATCHER) for sign, alone in found.items()}
        return [
            Suspicion(re.split(r":? ", sign)[0], 1, sign, reaches_runner=alone, sign="unchanged")
            for sign, alone in found.items()
        ]

    async def replay_calls(
        self, copy: Path, calls: Sequence[RecordedCall], *, neighbors: int, timeout_s: float
    ) -> Sequence[RecordedCall]:
        script = self.script(copy / self.options.path)
        await asyncio.to_thread(remove_tests, copy)
        sandbox, project = self.context.sandbox, self.context.project
        root = project if sandbox.arranges_view else copy
        program = self.program()
        if program is None:
            return ()
        command, job = player(program, _line_of(script))
        return await play_calls(
            sandbox,
            command,
            {"neighbors": neighbors, **job},
            calls,
            root=root / self.options.path,
            timeout_s=timeout_s,
            readable=[*program_folders(*self._outside(program)), *_linked(copy)],
        )

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        folder = copy / self.options.path

        async def check() -> GoalResult:
            return (await self._run_once(copy))[0]

        return await contradict_suite(
            FORMS,
            cases,
            lambda case: [folder / case.partition("::")[0]],
            check,
            self._before.answers,
            self._before.lines,
        )

    async def version(self) -> str:
        """What the program says to `--version`, asked once a run."""
        if not self._version:
            command = [self.program() or "", "--version"]
            try:
                done = await self.start(command, self.context.project, {}, ())
                self._version = (done.stdout or done.stderr).strip()
            except ToolError as error:
                self._version = str(error)
        return self._version

    async def start(
        self,
        command: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        writable: Sequence[Path],
        timeout_s: float = VERSION_TIMEOUT_S,
    ) -> Completed:
        """Start a program of this tool chain in the sandbox."""
        return await self.context.sandbox.run(
            command,
            timeout_s=timeout_s,
            cwd=folder,
            # The runners must neither colour what they say, nor wait for keys, nor write snapshots.
            env={"CI": "true", "NO_COLOR": "1", "FORCE_COLOR": "0", "DO_NOT_TRACK": "1", **env},
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=writable,
            readable=[*program_folders(*self._outside(command[0])), *_linked(folder)],
        )

    def _outside(self, program: str) -> list[str]:
        """The programs that no command can have made a link to what is not for it."""
        named = [each for each in (self.program(), program) if each]
        return [each for each in named if not Path(each).is_relative_to(self.context.project)]

    def _problem(self, run: SuiteRun, done: Completed, printed: str) -> str:
        if done.timed_out:
            return f"the tests were still running after {self.options.timeout_s:g} s"
        bad = bool(run.failed())
        status = done.exit_code
        how = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        if run.problem:
            return f"{run.problem} ({how}): {_last_line(printed)}"
        if status != 0 and not bad:
            return f"no test failed, but the command did ({how}): {_last_line(printed)}"
        if status == 0 and bad:
            return "a test failed, but the command ended with success"
        return ""


def _line_of(script: TestScript | str) -> str:
    return "" if isinstance(script, str) else script.line


def _linked(folder: Path) -> list[Path]:
    """Where `node_modules` really lies when it is a link (a workspace's, or a shared store's).

    Only where that has the name too: a command could have made the link, to any folder.
    """
    modules = folder / "node_modules"
    if not modules.is_symlink() or not modules.is_dir():
        return []
    real = modules.resolve()
    return [real] if real.name == "node_modules" else []


def _last_line(text: str) -> str:
    """The line of an output that says most: the first error, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("npm warn")] or lines
    errors = [line for line in lines if "Error" in line or line.startswith("error")]
    return (errors[:1] or lines[-1:] or ["no output"])[0][:300]
