"""The goal `cargo-test`: every test of a Rust project passes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from retrai_core import (
    CaseOutcome,
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
    SavedModel,
    ShellWords,
    contradict_suite,
    globs_below,
    suite_result,
    text_of,
)

from ..merged_run import OUTPUT_BYTES, merged
from ..place import PlaceOptions
from ..tool_chain_goal import SHORT_TIMEOUT_S, ToolChainGoal
from .environment import (
    HOW_TO_INSTALL,
    cargo_environment,
    configuration_files,
    forget_own_builds,
    tool_chain_folders,
    without_new_lock,
)
from .exact_forms import rust_forms, types_with_equality
from .failing_test import add_failing_tests, runs_every_test
from .guarding import PROTECTED, STEERING, audit_rust, is_test_program
from .inline_tests import KeptTests, changed_tests, read_project, source_files
from .output import compared_literals, compile_errors, failed_line, read_targets
from .project import CargoProject

_METADATA = ("metadata", "--no-deps", "--format-version", "1")
PROMPT = """\
The goal is `cargo-test`: every test of this Rust project passes, test by test, as libtest reports \
it: unit tests, integration tests and documentation examples.

- Start from the failures you are given. A compile error hides every test behind it: fix the \
first error first, the rest often goes with it.
- `cargo test NAME` runs one test, `cargo test --test FILE` one file, `cargo check` is the \
quickest way to see whether it compiles. There is no network: use the crates that are there.
- Fix the source, not the tests. Files in `tests/` and `benches/`, Cargo.toml, Cargo.lock, \
`.cargo/config.toml`, `build.rs` and the tool chain file are protected; a new `build.rs` or \
`.cargo/config.toml` is set aside.
- Tests inside a source file (`#[test]`, what stands in `#[cfg(test)]` modules, examples in `///` \
comments) must stay word for word as they are. Fix the code around them; new tests are welcome.
- A test counts only when it ran and passed. `#[ignore]`, `cfg` that hides a test, ending the \
process, and answers made only for what the tests ask are no solution, and they are looked for.
- Every test that passes now must still pass at the end.\
"""


class CargoTestOptions(PlaceOptions):
    """Options of the goal `cargo-test`."""

    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for `cargo test` (`--workspace --features full`), split like a shell
    line."""
    offline: bool = Field(default=True, json_schema_extra={"loosens": True})
    """Whether cargo may use only crates that are already fetched (`cargo fetch`)."""
    protect_inline_tests: bool = Field(default=True, json_schema_extra={"loosens": True})
    """Whether tests inside source files must stay unchanged."""


class _BeforeRun(SavedModel):
    """What the baseline check of a run showed.

    Attributes:
        failures: what was printed of each failing case.
        types: those that defined their own equality.
    """

    failures: dict[str, str] = Field(default_factory=dict[str, str])
    types: set[str] = Field(default_factory=set[str])


class _Run(NamedTuple):
    """One run of all tests.

    Attributes:
        result: of it.
        failures: what was printed of each failing case.
        ended_well: the root files of test programs that ended well.
    """

    result: GoalResult
    failures: Mapping[str, str]
    ended_well: frozenset[str] = frozenset()


class CargoTestGoal(ToolChainGoal[CargoTestOptions]):
    """`cargo test` ends well and every unit test, integration test and documentation example
    passes. Each is a case of its own (`src/lib.rs::tests::adds`); those of the beginning must all
    be there and none may be newly ignored. The text of tests inside source files is kept when the
    run begins and must still stand there. A crate that does not compile, a test program that ends
    before its tests do, and lines that do not add up are no complete run."""

    name: ClassVar[str] = "cargo-test"
    summary: ClassVar[str] = "every Rust test passes (cargo test)"
    markers: ClassVar[Sequence[Marker]] = (Marker("Cargo.toml", priority=40),)
    programs: ClassVar[Sequence[str]] = ("cargo",)
    manifest: ClassVar[str] = "Cargo.toml"
    how_to_install: ClassVar[str] = HOW_TO_INSTALL
    asks_version: ClassVar[str] = "--version"
    protects: ClassVar[str] = "the tests, their snapshots, and Cargo's own files"
    steers: ClassVar[str] = "new files that configure cargo or the tool chain"

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        folder = cwd / self.options.path
        result, failures, _ = await self._run(folder)
        if not state and cwd == self.context.project:
            types = await asyncio.to_thread(_types_in, folder)
            before = _BeforeRun(failures=dict(failures), types=types)
            await asyncio.to_thread(before.save, self._before)
        if not self.options.protect_inline_tests:
            return result
        return await asyncio.to_thread(self._hold_to_text, result, folder, bool(state))

    def is_test(self, path: str) -> bool:
        return is_test_program(path)

    def system_prompt(self) -> str:
        return PROMPT

    def protected(self, project: Path) -> Sequence[str]:
        return globs_below(self.options.path, PROTECTED)

    def steering(self, project: Path) -> Sequence[str]:
        return STEERING

    async def environment(self, project: Path) -> Environment:
        return Environment(steering=configuration_files(project))

    def audit(self, diff: str) -> Sequence[Suspicion]:
        return audit_rust(diff, self.context.project)

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        folder = copy / self.options.path
        # A case names the program's root file, and its test may stand in any module.
        files = await asyncio.to_thread(lambda: list(source_files(folder)))
        before = await asyncio.to_thread(_BeforeRun.load, self._before) or _BeforeRun()
        new_types = await asyncio.to_thread(_types_in, folder) - before.types
        tests = [case for case in cases if " documentation::" not in case]
        answers = {case: compared_literals(text) for case, text in before.failures.items()}
        places = {case: failed_line(text) for case, text in before.failures.items()}
        lines = {case: line for case, line in places.items() if line}

        added: list[str] = []
        if runs_every_test(self.options.args):
            added = await asyncio.to_thread(add_failing_tests, folder, tests)
        runs: list[_Run] = []

        async def check() -> GoalResult:
            runs.append(await self._run(folder))
            return runs[0].result

        found = await contradict_suite(
            rust_forms(new_types), tests, lambda _: files, check, answers, lines
        )
        if added and not runs:
            await check()
        places = {place for run in runs for place in run.ended_well.intersection(added)}
        if not places:
            return found
        still = [case for case in tests if case.partition("::")[0] in places]
        reason = f"{min(places)} ends well although a failing test was added"
        return Contradiction(still, still, reason)

    async def _run(self, folder: Path) -> _Run:
        """Run all tests of the project in a folder."""
        command = ["cargo", "test", "--no-fail-fast", *self.options.args]
        try:
            await asyncio.to_thread(self.forget_other_trees, folder)
            async with without_new_lock(folder):
                metadata = await self.start(folder, _METADATA)
                done = await self.start(folder, command[1:], self.options.timeout_s, is_merged=True)
        except (ToolError, OSError) as error:
            problem = f"cargo cannot be started: {error}"
            return _Run(suite_result({}, command, problem=problem), {})
        return self._judge(done, CargoProject.read(metadata.stdout), folder, command)

    def _judge(
        self, done: Completed, project: CargoProject, folder: Path, command: Sequence[str]
    ) -> _Run:
        cargo = shutil.which("cargo") or "cargo"
        cases: dict[str, CaseOutcome] = {}
        failures: dict[str, str] = {}
        ended_well: set[str] = set()
        problem = ""
        for target in read_targets(done.stdout):
            place = f"{target.crate} documentation"
            if target.path:
                place = project.source_of(target.crate, target.path, folder)
            cases |= {f"{place}::{name}": outcome for name, outcome in target.cases.items()}
            failures |= {f"{place}::{name}": text for name, text in target.failures.items()}
            problem = problem or target.problem
            if target.ended_well or done.exit_code == 0:
                ended_well.add(place)
        errors = compile_errors(done.stdout)
        if done.timed_out:
            problem = f"cargo was still running after {self.options.timeout_s:g} s"
        elif done.exit_code not in (0, 101) or (done.exit_code == 101 and not cases):
            first = errors[0].splitlines() if errors else [done.stdout.strip()[-200:]]
            where = next((line.strip() for line in first if "-->" in line), "")
            problem = f"no test was run: {first[0]} {where}".rstrip()
        elif not problem and done.exit_code == 101 and "failed" not in cases.values():
            problem = "cargo ended with exit status 101, though no test failed"
        output = "\n\n".join(errors) or done.stdout[-4000:]
        result = suite_result(
            cases, command, interpreter=cargo, problem=problem, failures=failures, output=output
        )
        return _Run(result, failures, frozenset(ended_well))

    def _hold_to_text(self, result: GoalResult, folder: Path, later: bool) -> GoalResult:
        """Keep the text of the inline tests at the first check; compare it at every later one."""
        place = self._notes / "inline-tests.json"
        kept, now = KeptTests.load(place), read_project(folder)
        report = result.report
        complete = report is not None and report.complete
        if kept is None or (not later and folder == self.context.project / self.options.path):
            KeptTests(files=now, complete=complete).save(place)
            return result
        changed = changed_tests(kept.files, now)
        if not changed and complete and not kept.complete:
            seen = {case.rpartition("::")[2] for case in result.cases}
            changed = dict.fromkeys(sorted(kept.test_names() - seen), "it was not run")
        if not changed or report is None:
            return result
        shown = {f"{name} as written": f"It was:\n{text}" for name, text in changed.items()}
        cases: dict[str, CaseOutcome] = {**report.cases, **dict.fromkeys(shown, "failed")}
        failed = suite_result(cases, report.command, failures=shown, interpreter=report.interpreter)
        first = next(iter(changed))
        count = "a test" if len(changed) == 1 else f"{len(changed)} tests"
        reason = f"{count} inside the sources changed and must be put back as before: {first}"
        return GoalResult(False, reason, f"{reason}\n\n{failed.details}", failed.report)

    def forget_other_trees(self, folder: Path) -> None:
        """What was built of a copy is no build of the project, nor of the next copy."""
        mark = self._build.parent / "built-a-copy"
        is_copy = folder != self.context.project / self.options.path
        if is_copy or mark.exists():
            forget_own_builds(self._build)
        if is_copy:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    @property
    def _notes(self) -> Path:
        return self.context.run_dir / "cargo-test"

    @property
    def _before(self) -> Path:
        return self._notes / "before.json"

    @property
    def _build(self) -> Path:
        folder = self._notes / "build"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def start(
        self,
        folder: Path,
        arguments: Sequence[str],
        timeout_s: float = SHORT_TIMEOUT_S,
        *,
        is_merged: bool = False,
    ) -> Completed:
        command = [shutil.which("cargo") or "cargo", *arguments]
        return await self.context.sandbox.run(
            merged(command) if is_merged else command,
            timeout_s=timeout_s,
            cwd=folder,
            env=cargo_environment(self._build, self.options.offline),
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=[self._build],
            readable=tool_chain_folders(),
        )


def _types_in(folder: Path) -> set[str]:
    return types_with_equality(map(text_of, source_files(folder)))
