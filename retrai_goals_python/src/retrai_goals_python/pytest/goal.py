"""The goal `pytest`: every test of the project passes."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    Contradiction,
    Environment,
    GoalBase,
    GoalResult,
    Marker,
    RecordedCall,
    RunContext,
    Suspicion,
    UsageError,
)
from retrai_goal_support import FolderOptions, ShellWords, missing_folder, replay_python_calls

from ..contradiction import contradict_tests
from ..diff_audit import is_test, plain_sources
from ..environment.probing import why_unusable
from ..environment.runner_files import declared_text, runner_files
from ..python_goal import PythonGoal
from ..python_source import read_files, write_files
from ..runner import FAILED, run_pytest
from .copied_project import copied_project
from .detection import MARKERS
from .guarding import audit_diff, changed_examples, protected_globs, steering_globs
from .recorded_calls import (
    BEFORE,
    BeforeRun,
    import_paths,
    modules_of_tests,
    patches,
    recorded_calls,
    remove_tests,
)
from .run import PytestRun, describe_run, first_error, render_failures
from .unusable_options import USAGE_ERROR, unusable_target

RUNNERS = re.compile(r"(?:_pytest|pytest|pluggy|unittest)\.|pytest_\w+ of a ")
"""Attributes of modules that only what serves tests replaces, and hooks of a nameless plugin."""
UNCOMPARED = "{} passes whatever it expects, or without comparing the value that it failed on: {}"
MAX_VALUE_CHARS = 200
MAX_WHOLE_S = 60.0
"""A suite that takes longer is not run whole with contradictions, but some of its tests alone."""
MAX_CONTRADICTED = 40
"""So many of those that passed before, and so many of the others."""

PROMPT = """\
The goal is `pytest`: every test of this project passes, as pytest itself reports it, test by test.

- Start from the failures you are given: the exception, the location and the compared values. Read \
the code under test before you change it, and look for the cause, not for the line that raised.
- `run_pytest` runs all tests, or the targets you name (`tests/test_api.py::test_login`), in the \
project's own environment. Run the failing ones while you work and the whole suite before you stop.
- Fix the source, not the tests. Test files, conftest.py and the runner's configuration \
(pytest.ini, pyproject.toml, tox.ini, setup.cfg, lock files) are protected: changes to them are \
refused or undone before each check, and new files that steer pytest are set aside.
- A test counts only when it ran and passed. Skipping, deselecting, expecting failure, ending the \
process early or answering only what the tests ask for is no solution, and it is looked for.
- Tests are the specification. If two of them contradict each other, or one cannot be met, say so \
instead of bending the code.
- Every case that passes now must still pass at the end.\
"""


class PytestGoalOptions(FolderOptions):
    """Options of the goal `pytest`."""

    targets: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Files, folders or test ids; empty for all tests. A string is split like a shell line."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for pytest. A string is split like a shell line."""
    timeout_s: float = Field(default=120.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one run of the whole suite."""
    max_chars_per_failure: int = Field(default=4000, ge=200, json_schema_extra={"loosens": False})
    """Maximum length of the text of one failing test, in characters."""
    max_full_failures: int = Field(default=10, ge=1, json_schema_extra={"loosens": False})
    """Maximum number of different failures shown in full; the others are only named."""


class PytestGoal(PythonGoal[PytestGoalOptions]):
    """Every test passes, in the project's own environment."""

    name: ClassVar[str] = "pytest"
    summary: ClassVar[str] = "every test passes (pytest)"
    runner: ClassVar[str] = "pytest"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    markers: ClassVar[Sequence[Marker]] = MARKERS
    default_tools: ClassVar[Sequence[str]] = (*GoalBase.default_tools, "run_pytest")
    protects: ClassVar[str] = "the tests, conftest.py, test data, and what configures pytest"
    steers: ClassVar[str] = "new files that configure pytest, or that Python loads by itself"

    def __init__(self, options: PytestGoalOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._declared: str | None = None
        self._options_tried = False
        self._on_copy: PytestRun | None = None
        self._unreached: list[str] = []
        self._import_paths: list[str] = []

    @cached_property
    def _before(self) -> BeforeRun:
        return BeforeRun.load(self.context.run_dir / BEFORE) or BeforeRun()

    async def ready(self) -> str | None:
        problem = await asyncio.to_thread(missing_folder, self.context.project, self.options.path)
        return problem or why_unusable(await self.probe(), self.context.python, "pytest")

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        on_copy = cwd != self.context.project
        at_baseline = not on_copy and not state
        judges_copy = on_copy and bool(state)
        record = FAILED if at_baseline else sorted(self._before.failed) if judges_copy else ()
        run = await self._run(cwd, record=record)
        if record and not (run.all_passed if on_copy else run.complete):
            # Nothing that was done to record the calls may cost the verdict; what the project's
            # code replaced is known all the same, and what the cases saw that passed.
            calls = {
                case: one
                if run.complete and run.cases.get(case) == "passed"
                else one.model_copy(update={"calls": None})
                for case, one in (run.calls.items() if on_copy else ())
            }
            run = replace(await self._run(cwd), calls=calls)
        if judges_copy:
            self._on_copy = run
        elif at_baseline and not self.context.task and not self._options_tried:
            self._options_tried = True
            await self._refuse_unusable(run)
        if at_baseline:
            folder = cwd / self.options.path
            self._before = await asyncio.to_thread(BeforeRun.of, run, folder)
            await asyncio.to_thread(self._before.save, self.context.run_dir / BEFORE)
        self._import_paths = import_paths(run, cwd) or self._import_paths
        recorded = await asyncio.to_thread(recorded_calls, run, cwd / self.options.path)
        return replace(self._result(run), calls=recorded)

    async def _refuse_unusable(self, run: PytestRun) -> None:
        """End the run before the first turn where the user's own options keep pytest from it."""
        options = self.options
        problem = unusable_target(run, self.context.project / options.path, options.targets)
        if problem is None and run.exit_status == USAGE_ERROR and options.args:
            # What stands in the project's configuration, or in a conftest, a model may fix.
            without = await self._run(self.context.project, ["--collect-only"])
            if without.exit_status != USAGE_ERROR:
                problem = f"the option args: {run.problem}"
        if problem:
            raise UsageError(
                f"the goal pytest cannot be checked: {problem}",
                hint="`--option NAME=VALUE`, or a line in .retrai.yml, gives another",
            )

    async def check_without(
        self, state: Mapping[str, Any], cwd: Path, paths: Sequence[str]
    ) -> GoalResult | None:
        new = [path for path in paths if path.endswith(".py")]
        if not new:
            return None
        base = "" if self.options.path == "." else f"{self.options.path}/"
        left_out = [f"--ignore={path.removeprefix(base)}" for path in new if path.startswith(base)]
        return self._result(await self._run(cwd, [*self.options.args, *left_out]))

    def _in_project(self, path: str) -> str:
        return path if self.options.path == "." else f"{self.options.path}/{path}"

    async def _run(
        self,
        cwd: Path,
        args: Sequence[str] | None = None,
        *,
        targets: Sequence[str] = (),
        record: Sequence[str] = (),
        outcomes_only: bool = False,
    ) -> PytestRun:
        context, options = self.context, self.options
        path = await self.interpreter_path() if cwd != context.project else []
        return await run_pytest(
            context.sandbox,
            context.python,
            cwd / options.path,
            targets=targets or options.targets,
            extra_args=options.args if args is None else args,
            timeout_s=options.timeout_s,
            max_chars_per_failure=options.max_chars_per_failure,
            copied=copied_project(path, context.project, cwd),
            record=record,
            outcomes_only=outcomes_only,
        )

    def _result(self, run: PytestRun) -> GoalResult:
        details = render_failures(run, max_full=self.options.max_full_failures)
        reason = f"{describe_run(run)}{first_error(run)}"
        return GoalResult(run.all_passed, reason, details, run.to_report())

    def system_prompt(self) -> str:
        return PROMPT

    def protected(self, project: Path) -> Sequence[str]:
        return protected_globs(project, self.options.path, self.options.targets)

    def steering(self, project: Path) -> Sequence[str]:
        return steering_globs(self.options.path)

    async def environment(self, project: Path) -> Environment:
        found = await self.probe()
        if isinstance(found, str):
            return Environment()
        if self._declared is None:  # asked before the first turn
            self._declared = await asyncio.to_thread(declared_text, project)
        python = self.context.python
        return await asyncio.to_thread(runner_files, found, python, project, self._declared)

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        """The suite twice, each time with another random half of its tests contradicted.

        Those that failed before the run are contradicted both times: with values near the expected
        ones, and with the answers that the code gave then.
        """
        folder = copy / self.options.path
        whole = self._on_copy is None or self._on_copy.duration_s <= MAX_WHOLE_S
        most = None if whole else MAX_CONTRADICTED
        stable_before = {*_functions(self._before.passed)} - {*_functions(self._before.failed)}
        functions = _functions(cases)
        fixed = [function for function in functions if function not in stable_before][:most]
        stable = [function for function in functions if function in stable_before][:most]
        random.SystemRandom().shuffle(stable)
        tried, survivors, unreached, reason = dict[str, None](), list[str](), list[str](), ""
        for far in (False, True):
            wanted = [*fixed, *stable[far::2]]
            failed = self._before.assertions if far else {}
            paths = {folder / function.partition("::")[0] for function in wanted}
            paths |= {folder / failed[one].path for one in fixed if one in failed}
            kept = await asyncio.to_thread(read_files, paths)
            try:
                changed = await asyncio.to_thread(
                    contradict_tests, folder, wanted, len(wanted), far=far, failed=failed
                )
                if not changed:
                    continue
                targets = () if whole else changed
                run = await self._run(copy, targets=targets, outcomes_only=True)
            finally:
                await asyncio.to_thread(write_files, kept)
            outcomes = run.cases.items()
            passed = set(_functions(case for case, outcome in outcomes if outcome == "passed"))
            reached = set(_functions(case for case, outcome in outcomes if outcome != "skipped"))
            tried |= dict.fromkeys(changed)
            passing = [function for function in changed if function in passed]
            uncompared = [one for one in passing if one in failed and failed[one].expected]
            if uncompared and uncompared == passing and not survivors:
                value = failed[uncompared[0]].expected[0]
                reason = UNCOMPARED.format(uncompared[0], value[:MAX_VALUE_CHARS])
            survivors += passing
            unreached += [one for one in fixed if one in {*changed} - reached]
        self._unreached = list(dict.fromkeys(unreached))
        return Contradiction(list(tried), survivors, reason)

    def audit(self, diff: str) -> Sequence[Suspicion]:
        project, run = self.context.project, self._on_copy
        files = {self._in_project(case.partition("::")[0]) for case in (run.cases if run else ())}
        sources = {path for path in files if not is_test(path)}
        found = [*audit_diff(diff, project), *changed_examples(diff, project, sources)]
        replaced = patches(run) if run else {}
        plain = plain_sources(diff, project) if replaced else ()
        for name, (path, line) in replaced.items():
            if name not in self._before.patches:
                file = self._in_project(path)
                reaches_runner = RUNNERS.match(name) is not None and file in plain
                found.append(Suspicion(file, line, f"replaces {name}", reaches_runner, "unknown"))
        for function in self._unreached:
            path, _, name = function.partition("::")
            what = f"{name} passes and reaches no comparison"
            found.append(Suspicion(self._in_project(path), 1, what))
        return found

    async def replay_calls(
        self, copy: Path, calls: Sequence[RecordedCall], *, neighbors: int, timeout_s: float
    ) -> Sequence[RecordedCall]:
        folder = copy / self.options.path
        modules = await asyncio.to_thread(modules_of_tests, folder, calls)
        await asyncio.to_thread(remove_tests, copy)
        sandbox, project = self.context.sandbox, self.context.project
        root = project if sandbox.arranges_view else copy
        return await replay_python_calls(
            sandbox,
            self.context.python,
            root / self.options.path,
            calls,
            # An ordinary program has no folder of removed tests on its path.
            paths=[str(root / path) for path in self._import_paths if (copy / path).is_dir()],
            modules=modules,
            neighbors=neighbors,
            timeout_s=timeout_s,
            cpu_s=timeout_s / 4,
            late=True,
        )


def _functions(cases: Iterable[str]) -> list[str]:
    """The test functions of cases, each once: their ids without parameters."""
    return list(dict.fromkeys(case.partition("[")[0] for case in cases))
