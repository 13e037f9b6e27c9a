"""The goal `rust-optimize`: benchmarks of a Rust project are fast enough, with the same results."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    CaseOutcome,
    Contradiction,
    GoalOptions,
    GoalResult,
    Marker,
    Suspicion,
    ToolError,
)
from retrai_goal_support import (
    ShellWords,
    Trick,
    audit_lines,
    new_tricks,
    suite_result,
    text_of,
)

from ..trial_copy import trial_copy
from .bench import Benched, read_bench, steady_lines
from .bench_trials import (
    LONGEST_S,
    ONE_ROUND,
    TRIALS,
    BenchTrial,
    BenchTrials,
    changed_benches,
    count_mutable_statics,
    least_figures,
)
from .environment import without_new_lock
from .goal import CargoTestGoal, CargoTestOptions
from .inline_tests import source_files

SAME_OUTPUT = "the benchmarks print what they printed"
RUNS_AT_START = 3
NOTHING_TO_COMPARE = (
    "nothing says which results are right: add a test that passes, or let the benchmark print its "
    "results"
)
TRICKS = (
    Trick.reaching(r"ns/iter|\bbench:|time:\s*\[", "prints what the benchmark prints"),
    Trick.reaching(
        r"\bfn\s+(?:clock_gettime|__clock_gettime|gettimeofday|mach_absolute_time)\s*\(",
        "replaces the clock",
    ),
    Trick.reaching(
        r"\bfs::(?:write|create_dir\w*|OpenOptions)\b|\bFile::(?:create\w*|options)\s*\("
        r"|\bOpenOptions::new\s*\(|\btemp_dir\s*\(|\bshm_open\b|\bmemmap|\benv::set_var\b",
        "keeps something outside the process",
    ),
    Trick(re.compile(r"\bunsafe\b"), "new unsafe code"),
)
PROMPT = """\
The goal is `rust-optimize`: {what} takes less than {target:g} ns for one iteration (median of \
{runs} runs of `{command}`), and the results stay what they are.

- Measure before you change anything. A better algorithm beats many small savings; then look at \
allocations, copies and what runs again for each call.
- Every test of the project must pass, and what the benchmarks print beside their figures must be \
what it was at the start.
- The benchmarks, the tests, Cargo.toml and its profiles, `.cargo/config.toml` and `build.rs` are \
protected; there is no network: use the crates that are there.
- An answer that is written down, or kept from an earlier call, and code that tells a benchmark \
from another caller are no speed, and they are looked for.\
"""


class RustOptimizeOptions(CargoTestOptions):
    """Options of the goal `rust-optimize`."""

    bench_name: str = Field(
        default="", pattern=r"^(?:[^-\s]\S*)?$", json_schema_extra={"loosens": True}
    )
    """Benchmark program (`benches/NAME.rs`), or a part of the benchmarks' names. Default: all."""
    target_ns: float = Field(default=100.0, gt=0, json_schema_extra={"loosens": True})
    """Limit for one iteration of each benchmark, in nanoseconds."""
    runs: int = Field(
        default=3, ge=1, le=50, json_schema_extra={"loosens": True, "aliases": ["iterations"]}
    )
    """Number of runs of `cargo bench`; the median of their figures counts. The check at the start
    takes at least 3."""
    bench_args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for the benchmark programs, split like a shell line."""


class RustOptimizeGoal(CargoTestGoal):
    """Each benchmark's figure in the output of `cargo bench`, libtest's or Criterion's, stays
    below `target_ns`: the median of `runs` runs. Every test passes as for `cargo-test`, and
    apart from the figures the output of the benchmarks must be the same as at the start;
    without tests and without such output there is nothing to compare with, and the check is not
    complete. Each benchmark is a case. If one is reported twice, the check is incomplete.
    The benchmarks are also run with other integers, on the old code at the start and on the new
    code at the end: they must print the same, and be faster there too. Where the sources newly
    keep something between calls, one round must be faster as well."""

    name: ClassVar[str] = "rust-optimize"
    summary: ClassVar[str] = "Rust benchmarks are fast enough, with the same results (cargo bench)"
    markers: ClassVar[Sequence[Marker]] = ()
    protects: ClassVar[str] = "the benchmarks, the tests, and Cargo's own files"
    Options: type[GoalOptions] = RustOptimizeOptions
    _latest: Sequence[Benched] = ()
    """The runs of the latest check."""

    @property
    def own(self) -> RustOptimizeOptions:
        """The options, as this goal has them."""
        assert isinstance(self.options, RustOptimizeOptions)
        return self.options

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        folder = cwd / self.options.path
        tested = await super().check(state, cwd)
        cases = dict(tested.cases)
        if cases and not tested.achieved:
            return tested
        command = self._command(folder)
        runs: list[Benched] = []
        at_start = not state and cwd == self.context.project
        # What changes from run to run is known after a few.
        for _ in range(max(self.own.runs, RUNS_AT_START) if at_start else self.own.runs):
            found = await self._bench(folder, command, self.options.timeout_s)
            if isinstance(found, GoalResult):
                return found
            runs.append(found)
        kept = await asyncio.to_thread(self._kept, steady_lines(runs), at_start)
        self._latest = runs
        if not kept and not cases:
            return suite_result({}, command, problem=NOTHING_TO_COMPARE)
        result = self._verdict(cases, runs, kept, command)
        if at_start and not result.achieved:
            await self._note_trials(command)
        return result

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        found = await super().contradict(copy, cases)
        first = await asyncio.to_thread(BenchTrials.load, self._trials)
        if found.still_passed or first is None:
            return found
        folder = copy / self.options.path
        now = least_figures(self._latest)
        statics = await asyncio.to_thread(lambda: count_mutable_statics(source_files(folder)))
        tried: list[str] = []
        for name in first.trials:
            if name == ONE_ROUND and statics <= first.mutable_statics:
                continue
            command = self._command(folder)
            runs = await self._run_trial(folder, name, command, 1)
            if not runs:
                continue
            tried = [self._case(bench) for bench in now]
            if first.problem(name, now, runs):  # other programs may have made it slow
                runs += await self._run_trial(folder, name, command, RUNS_AT_START - 1)
            if problem := first.problem(name, now, runs):
                return Contradiction(tried, tried, problem)
        return Contradiction([*found.tried, *tried])

    def _case(self, bench: str) -> str:
        return f"{bench} under {self.own.target_ns:g} ns"

    async def _note_trials(self, command: Sequence[str]) -> None:
        """Run the benchmarks of the beginning in the trials' ways, on a copy."""
        project = self.context.project
        sources = project / self.options.path
        statics = await asyncio.to_thread(lambda: count_mutable_statics(source_files(sources)))
        first = BenchTrials(
            usual=BenchTrial(ns=least_figures(self._latest)), mutable_statics=statics
        )
        with suppress(OSError):  # without a copy nothing is known
            async with trial_copy(project, project) as copy:
                folder = copy.folder / self.options.path
                for name in TRIALS:
                    # What changes from run to run is no result.
                    if runs := await self._run_trial(folder, name, command, RUNS_AT_START):
                        ns = least_figures(runs)
                        first.trials[name] = BenchTrial(lines=steady_lines(runs), ns=ns)
        await asyncio.to_thread(first.save, self._trials)

    async def _run_trial(
        self, folder: Path, name: str, command: Sequence[str], count: int
    ) -> list[Benched]:
        """Runs of the benchmarks in one of the trials' ways, in a copy; none where one fails.

        Args:
            folder: in a copy; its benchmarks are as they were afterwards.
            name: of the trial.
            command: that runs them.
            count: how many runs.
        """
        texts = await asyncio.to_thread(changed_benches, folder, TRIALS[name])
        if not texts:
            return []
        runs: list[Benched] = []
        for path, (_, text) in texts.items():
            await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        limit_s = min(LONGEST_S, self.options.timeout_s)
        try:
            await asyncio.to_thread(self.forget_other_trees, folder)
            for _ in range(count):
                found = await self._bench(folder, command, limit_s)
                if isinstance(found, GoalResult):
                    return []
                runs.append(found)
        finally:
            for path, (text, _) in texts.items():
                await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        return runs

    @property
    def _trials(self) -> Path:
        return self.context.run_dir / self.name / "trials.json"

    def system_prompt(self) -> str:
        own = self.own
        return PROMPT.format(
            what=f"the benchmark {own.bench_name}" if own.bench_name else "each benchmark",
            target=own.target_ns,
            runs=own.runs,
            command=" ".join(self._command(self.context.project / own.path)),
        )

    def audit(self, diff: str) -> Sequence[Suspicion]:
        tricks = new_tricks(diff, TRICKS)
        found = audit_lines(diff, tricks, is_source=_is_source, project=self.context.project)
        return [*super().audit(diff), *(each for each in found if _is_source(each.path))]

    def _command(self, folder: Path) -> list[str]:
        own, name = self.own, self.own.bench_name
        command, after = ["cargo", "bench"], list(own.bench_args)
        if name and self._is_program(folder, name):
            command += ["--bench", name]
        elif name:
            after = [name, *after]
        return [*command, *own.args, *(["--", *after] if after else [])]

    @staticmethod
    def _is_program(folder: Path, name: str) -> bool:
        if (folder / "benches" / f"{name}.rs").is_file():
            return True
        named = rf"\[\[bench\]\][^\[]*\bname\s*=\s*[\"']{re.escape(name)}[\"']"
        return re.search(named, text_of(folder / "Cargo.toml")) is not None

    async def _bench(
        self, folder: Path, command: Sequence[str], limit_s: float
    ) -> Benched | GoalResult:
        """The figures of one run, or why there are none.

        Args:
            folder: where.
            command: that runs the benchmarks.
            limit_s: maximum wall-clock seconds.
        """
        try:
            async with without_new_lock(folder):
                done = await self.start(folder, command[1:], limit_s)
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"cargo cannot be started: {error}")
        output = f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        found = read_bench(done.stdout)
        problem = ""
        if done.timed_out:
            problem = f"cargo was still running after {limit_s:g} s"
        elif done.exit_code != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            first = next((line for line in lines if line.startswith("error")), (lines or [""])[-1])
            problem = f"cargo bench ended with exit status {done.exit_code}: {first[:300]}"
        elif not found.ns:
            problem = "cargo bench reported no benchmark"
        elif found.twice:
            problem = f"the benchmark {found.twice[0]} was reported more than once"
        return suite_result({}, command, problem=problem, output=output) if problem else found

    def _kept(self, lines: list[str], at_start: bool) -> list[str]:
        """What the benchmarks printed at the start, kept outside the project."""
        place = self.context.run_dir / self.name / "output.json"
        if at_start or not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(lines), "utf-8")
            return lines
        return json.loads(place.read_text("utf-8"))

    def _verdict(
        self,
        cases: dict[str, CaseOutcome],
        runs: Sequence[Benched],
        kept: Sequence[str],
        command: Sequence[str],
    ) -> GoalResult:
        failures: dict[str, str] = {}
        figures: list[str] = []
        limit = self.own.target_ns
        for name in sorted({name for run in runs for name in run.ns}):
            ns = [run.ns[name] for run in runs if name in run.ns]
            middle, case = median(ns), self._case(name)
            spread = f"({min(ns):,.1f} to {max(ns):,.1f})"
            figures.append(f"{name}: median {middle:,.1f} ns of {len(ns)} {spread}")
            cases[case] = "passed" if middle < limit and len(ns) == len(runs) else "failed"
            if cases[case] == "failed":
                failures[case] = figures[-1]
        missing = [line for line in kept if any(line not in run.lines for run in runs)]
        if kept:
            cases[SAME_OUTPUT] = "failed" if missing else "passed"
        if missing:
            now = "\n".join(runs[-1].lines[:20])
            failures[SAME_OUTPUT] = (
                "These lines are gone:\n" + "\n".join(missing[:20]) + f"\nNow:\n{now}"
            )
        result = suite_result(cases, command, interpreter="cargo", failures=failures)
        reason = "; ".join(figures[:5])
        if missing:
            reason = f"the results differ from those at the start; {reason}"
        return replace(result, reason=reason)


def _is_source(path: str) -> bool:
    return path.endswith(".rs") and not path.startswith(("benches/", "tests/"))
