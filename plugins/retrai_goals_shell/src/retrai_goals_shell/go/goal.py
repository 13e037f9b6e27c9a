"""The goal `go-test`: every test of a Go project passes."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    Completed,
    Contradiction,
    Environment,
    GoalResult,
    Limits,
    Marker,
    Suspicion,
    ToolError,
)
from retrai_goal_support import (
    ShellWords,
    globs_below,
    suite_result,
)

from ..merged_run import OUTPUT_BYTES
from ..place import PlaceOptions
from ..tool_chain_goal import SHORT_TIMEOUT_S, ToolChainGoal
from .cache import go_cache, keep_first_build
from .cases import GoCases, expected_tests, judge_packages
from .environment import HOW_TO_INSTALL, go_environment, module_folders
from .failing_test import add_failing_tests, folder_of, still_passing
from .guarding import PROTECTED, STEERING, audit_go
from .output import packages_listed, read_packages

PROMPT = """\
The goal is `go-test`: every test of this Go module passes, as `go test -json` reports it, subtest \
by subtest.

- Start from the failures you are given. A package that does not build hides all its tests: fix \
what the compiler says first. One panic ends every test behind it in its package.
- `go test ./cart -run TestTotal/empty` runs one subtest, `go vet ./...` is the quickest way to \
see whether it builds. There is no network: use the modules that are there.
- Fix the source, not the tests. `*_test.go`, `testdata/`, go.mod, go.sum and `vendor/` are \
protected; a new go.work or vendor folder is set aside.
- A test counts only when it ran and passed. `t.Skip`, build constraints that hide a test, a \
TestMain or an `init` that ends the process, and answers made only for what the tests ask are no \
solution, and they are looked for.
- Every test that passes now must still pass at the end.\
"""


class GoTestOptions(PlaceOptions):
    """Options of the goal `go-test`."""

    packages: ShellWords = Field(
        default_factory=lambda: ["./..."], min_length=1, json_schema_extra={"loosens": True}
    )
    """Packages to test, split like a shell line."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for `go test` (`-race -tags integration`), split like a shell line."""
    offline: bool = Field(default=True, json_schema_extra={"loosens": True})
    """Whether go may use only modules that are already downloaded (`go mod download`)."""


class GoTestGoal(ToolChainGoal[GoTestOptions]):
    """`go test` ends well and every test, subtest and example passes. Each is a case of its own
    (`cart/cart_test.go::TestTotal/empty`); those of the beginning must all be there and none may be
    newly skipped. The test functions that the test files hold are known beforehand (`go list`): a
    package that ends well without running them, because something ended the process, is no complete
    run. Results of earlier runs are never taken from go's cache."""

    name: ClassVar[str] = "go-test"
    summary: ClassVar[str] = "every Go test passes (go test)"
    markers: ClassVar[Sequence[Marker]] = (Marker("go.mod", priority=50),)
    programs: ClassVar[Sequence[str]] = ("go",)
    manifest: ClassVar[str] = "go.mod"
    how_to_install: ClassVar[str] = HOW_TO_INSTALL
    asks_version: ClassVar[str] = "version"
    protects: ClassVar[str] = "the tests, their data, and the module's own files"
    steers: ClassVar[str] = "new workspaces, vendored modules and settings of go"

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        folder = cwd / self.options.path
        command = self._command
        go = shutil.which("go") or "go"
        is_in_place = folder.is_relative_to(self.context.project)
        packages = [name for name in self.options.packages if not name.startswith("-")]
        to_list = ["list", "-e", "-json", *self._tags, *packages]
        try:
            # Both take one cache: listing runs no code of the project that could write to it.
            async with go_cache(self._kept, is_in_place) as cache:
                listed = await self._run_go(cache, folder, to_list, SHORT_TIMEOUT_S)
                done = await self._run_go(cache, folder, command[1:], self.options.timeout_s)
            if is_in_place:
                await keep_first_build(self._kept)
        except ToolError as error:
            return suite_result({}, command, problem=f"go cannot be started: {error}")
        found = packages_listed(listed.stdout)
        expected = await asyncio.to_thread(expected_tests, found, folder)
        judged = judge_packages(
            read_packages(done.stdout, done.stderr),
            expected,
            self._runs_all,
            await asyncio.to_thread(os.path.realpath, folder),
        )
        problem = self._problem(done, judged)
        return suite_result(
            judged.cases,
            command,
            interpreter=go,
            problem=problem,
            failures=judged.failures,
            output=done.stderr or done.stdout[-4000:],
        )

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        """Add a failing test to each package, whose name source that forges the report cannot know.

        No expectation is changed, since Go compares numbers and texts itself.
        """
        folder = copy / self.options.path
        if not self._runs_all:
            return Contradiction()
        added = await asyncio.to_thread(add_failing_tests, folder, cases)
        if not added:
            return Contradiction()
        async with go_cache(self._kept, is_in_place=False) as cache:
            done = await self._run_go(cache, folder, self._command[1:], self.options.timeout_s)
        runs = {} if done.timed_out else read_packages(done.stdout, done.stderr)
        places = still_passing(added, runs) if runs else []
        tried = [case for case in cases if folder_of(case) in added]
        still = [case for case in tried if folder_of(case) in places]
        reason = f"the tests in {places[0]} pass although a failing test was added" if still else ""
        return Contradiction(tried, still, reason)

    def is_test(self, path: str) -> bool:
        # It is compiled into the same program as the others; data that tests read is not.
        return path.endswith("_test.go")

    def system_prompt(self) -> str:
        return PROMPT

    def protected(self, project: Path) -> Sequence[str]:
        return globs_below(self.options.path, PROTECTED)

    def steering(self, project: Path) -> Sequence[str]:
        return globs_below(self.options.path, STEERING)

    async def environment(self, project: Path) -> Environment:
        # A workspace above the project may replace its modules.
        return Environment(steering=[above / "go.work" for above in project.parents])

    def audit(self, diff: str) -> Sequence[Suspicion]:
        return audit_go(diff, self.context.project)

    def _problem(self, done: Completed, judged: GoCases) -> str:
        if done.timed_out:
            return f"go was still running after {self.options.timeout_s:g} s"
        if judged.problem:
            return judged.problem
        # 0: all is well; 1: a test failed; 2: a package was not built, or go had no use for it all.
        bad = any(outcome in ("failed", "error") for outcome in judged.cases.values())
        if done.exit_code not in (0, 1, 2) or (done.exit_code and not bad):
            lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
            return f"go gave no result (exit status {done.exit_code}): {lines[-1][:300]}"
        return ""

    @property
    def _command(self) -> list[str]:
        return ["go", "test", "-json", "-count=1", *self.options.args, *self.options.packages]

    @property
    def _kept(self) -> Path:
        return self.context.run_dir / "go-test"

    @property
    def _runs_all(self) -> bool:
        """Whether every test function is meant to run."""
        return not any(arg.lstrip("-").startswith(("run", "skip")) for arg in self.options.args)

    @property
    def _tags(self) -> list[str]:
        args = self.options.args
        found = [arg for arg in args if arg.lstrip("-").startswith("tags=")]
        return found or [
            part
            for flag, value in itertools.pairwise(args)
            if flag.lstrip("-") == "tags"
            for part in (flag, value)
        ]

    async def start(
        self, folder: Path, arguments: Sequence[str], timeout_s: float = SHORT_TIMEOUT_S
    ) -> Completed:
        async with go_cache(self._kept, is_in_place=True) as cache:
            return await self._run_go(cache, folder, arguments, timeout_s)

    async def _run_go(
        self, cache: Path, folder: Path, arguments: Sequence[str], timeout_s: float
    ) -> Completed:
        return await self.context.sandbox.run(
            [shutil.which("go") or "go", *arguments],
            timeout_s=timeout_s,
            cwd=folder,
            env=go_environment(cache, self.options.offline),
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=[cache],
            readable=module_folders(),
        )
