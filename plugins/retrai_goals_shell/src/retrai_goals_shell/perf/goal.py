"""The goal `perf-check`: a command is fast enough, several times in a row, with the same output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from retrai_core import CaseOutcome, CheckReport, GoalResult, ToolError
from retrai_goal_support import Trick, fresh_folder, suite_result

from ..command.audit import EVADES_TIMING
from ..command.goal import CommandGoal
from .input_trials import InputTrials
from .kept_output import (
    SHOWN_CHARS,
    KeptOutput,
    changed_files,
    comparable,
    data_in,
    digest_files,
    digest_of_all,
    file_stats,
    put_back,
)
from .options import PerfCheckOptions
from .other_inputs import data_files, digest_of, first_data, paths_from

NOT_TRIED = "other inputs could not be tried: {}"
NO_OUTPUT = (
    "{} at the start, so there is no output to compare with; make it end with exit status 0 (the "
    "time limit is the option max_seconds), or set compare_output: false"
)
DIFFERS = (
    "its output differs from one repeat to the next, so it cannot be compared; name what differs "
    "with ignore_output, or set compare_output: false"
)
PROMPT = """\
The goal is `perf-check`: this command, run by bash in {place}, ends in under {limit:g} seconds, \
{runs} times in a row{compared}:

    {command}

- Measure before you change anything: find where the time goes (a profiler, or timing of parts), \
and fix that; a better algorithm beats many small savings.
- The clock is outside the command and counts all of it, starting the program too. {repeats} \
repeats make one figure, their median.
- What it prints must stay as it was, byte for byte. A result that is kept from an earlier run, or \
written into the source, is no speed, and it is looked for: each repeat has fresh temporary and \
cache folders, and new files that the command leaves in the project do not count.\
"""


@dataclass
class Measured:
    """What repeats of the command showed.

    Attributes:
        groups: seconds of the repeats, for each time in a row.
        outputs: digests of what they printed, to be compared.
        last: what the last one printed and wrote.
        problem: why it could not be measured; empty when it was.
        printed: of the one that failed.
    """

    groups: list[list[float]] = field(default_factory=list[list[float]])
    outputs: set[str] = field(default_factory=set[str])
    last: KeptOutput = field(default_factory=KeptOutput)
    problem: str = ""
    printed: str = ""

    @property
    def slowest(self) -> list[float]:
        """The repeats with the worst median."""
        return max(self.groups, key=median)


def with_spread(seconds: Sequence[float]) -> str:
    """The median of repeats, which one noisy repeat does not move, and their range.

    Example:
        >>> with_spread([0.2, 0.25, 0.21])
        'median 0.210 s of 3 (0.200 to 0.250 s)'
    """
    many = f" of {len(seconds)} ({min(seconds):.3f} to {max(seconds):.3f} s)"
    return f"median {median(seconds):.3f} s{many if len(seconds) > 1 else ''}"


class PerfCheckGoal(CommandGoal[PerfCheckOptions]):
    """After `warmup` repeats, `runs` times in a row the median of `repeats` repeats of `command`
    stays below `max_seconds`, and what it prints is what it printed when the run began. The clock
    is retrai's, outside the sandbox. There are two cases, the time and the output. Where the
    command fails at the start, or its output differs from one repeat to the next, no run begins."""

    name: ClassVar[str] = "perf-check"
    summary: ClassVar[str] = "a command stays below a time limit, with the same output"
    tricks: ClassVar[Sequence[Trick]] = EVADES_TIMING

    def shell_text(self, project: Path) -> str:
        return self.options.command

    def command(self) -> list[str]:
        return ["bash", "-c", self.options.command]

    async def impossible(self) -> str | None:
        kept = await asyncio.to_thread(KeptOutput.load, self._output_file)
        if kept and kept.problem and self.options.compare_output:
            return kept.problem
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        kept = await asyncio.to_thread(KeptOutput.load, self._output_file)
        command, on_copy = self.command(), cwd != self.context.project
        is_baseline = kept is None or (not state and not on_copy)
        overwritten = kept.overwritten if kept and on_copy else {}
        names = await asyncio.to_thread(data_files, cwd) if is_baseline else overwritten
        data = await asyncio.to_thread(data_in, cwd, names)
        try:
            measured = await self._measure(cwd, overwritten)
            if measured.problem and overwritten:
                # The new code may write them in another form, and read no other one.
                await asyncio.to_thread(put_back, cwd, data)
                measured = await self._measure(cwd, {})
        except (ToolError, FileNotFoundError) as error:
            return suite_result({}, command, problem=f"the command cannot be started: {error}")
        if kept is None or is_baseline:
            kept = await self._record_output(measured, cwd, data)
            await asyncio.to_thread(kept.save, self._output_file)
        compares, difference = self.options.compare_output, ""
        if problem := measured.problem or (kept.problem if compares else ""):
            return suite_result({}, command, problem=problem, output=measured.printed)
        if compares and on_copy:
            try:
                difference = await self._trials.differs(cwd, kept.others)
            except OSError as error:
                return suite_result({}, command, problem=NOT_TRIED.format(error))
        return self._judge(measured, kept, difference)

    def system_prompt(self) -> str:
        options = self.options
        return PROMPT.format(
            place=self.place,
            limit=options.max_seconds,
            runs=options.runs,
            repeats=options.repeats,
            command=options.command,
            compared=" and prints what it printed before" if options.compare_output else "",
        )

    @property
    def _output_file(self) -> Path:
        return self.context.run_dir / self.name / "output.json"

    async def _measure(self, cwd: Path, overwritten: Mapping[str, bytes]) -> Measured:
        """Repeat it until one figure is too slow, or all are in.

        Args:
            cwd: the project, or a copy of it.
            overwritten: what files hold before each repeat.
        """
        measured = Measured()
        before = await asyncio.to_thread(file_stats, cwd)
        for _ in range(self.options.warmup):
            await self._once(cwd, measured, overwritten)
            if measured.problem:
                return measured
        for _ in range(self.options.runs):
            seconds: list[float] = []
            for _ in range(self.options.repeats):
                seconds.append(await self._once(cwd, measured, overwritten))
                if measured.problem:
                    return measured
            measured.groups.append(seconds)
            if median(seconds) >= self.options.max_seconds:
                break
        measured.last.written = changed_files(before, await asyncio.to_thread(file_stats, cwd))
        return measured

    async def _once(self, cwd: Path, measured: Measured, overwritten: Mapping[str, bytes]) -> float:
        """One repeat, in fresh folders for what programs keep; its seconds."""
        folder = cwd / self.options.path
        await asyncio.to_thread(put_back, cwd, overwritten)
        async with fresh_folder("tmp") as fresh:
            done = await self._trials.start(self.options.command, folder, fresh)
        measured.problem = self.unfinished(done, "the command")
        if not measured.problem and done.exit_code:
            measured.problem = f"the command failed with exit status {done.exit_code}"
        measured.printed = f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
        text = comparable(done.stdout, self.options.ignore_output)
        measured.outputs.add(digest_of(text))
        files = await asyncio.to_thread(digest_files, folder, self.options.output_files)
        measured.last = KeptOutput(shown=text[:SHOWN_CHARS], files=files)
        return done.duration_s

    @property
    def _trials(self) -> InputTrials:
        return InputTrials(self.context, self.options)

    async def _record_output(
        self, measured: Measured, cwd: Path, data: Mapping[str, bytes]
    ) -> KeptOutput:
        """What the command did when the run began.

        Args:
            measured: its repeats.
            cwd: the project.
            data: what files held before them.
        """
        kept, options = measured.last, self.options
        kept.overwritten = {name: data[name] for name in kept.written if name in data}
        if measured.problem:
            kept.problem = NO_OUTPUT.format(measured.problem)
        elif len(measured.outputs) > 1:
            kept.problem = DIFFERS
        else:
            (kept.digest,) = measured.outputs
        if kept.digest and options.compare_output:
            paths = [*paths_from(options.path, kept.written), *options.output_files]
            usual_s = median(measured.slowest)
            try:
                known = digest_of_all(kept.digest, kept.files)
                kept.others = await self._trials.find(cwd, paths, known, usual_s)
                only_read = {name: data[name] for name in data if name not in kept.written}
                kept.others += first_data(only_read, options.command, known, usual_s)
            except OSError as error:
                message = f"perf-check: {NOT_TRIED.format(error)}"
                self.context.publish("log", level="warning", message=message)
        return kept

    def _judge(self, measured: Measured, kept: KeptOutput, difference: str) -> GoalResult:
        """The verdict.

        Args:
            measured: the repeats.
            kept: what the command did when the run began.
            difference: why other inputs do not give what they gave then, or are slow; empty when
                they do and are not.
        """
        slowest, limit, now = measured.slowest, self.options.max_seconds, measured.last
        fast = median(slowest) < limit
        reasons = [f"{with_spread(slowest)}, the limit is {limit:g} s"]
        details: list[str] = []
        new = [name for name in now.written if name not in kept.written]
        same = not self.options.compare_output or (
            measured.outputs == {kept.digest} and now.files == kept.files
        )
        if not same:
            reasons.append("the output is not what it was at the start")
            details.append(f"It was:\n{kept.shown}\n\nIt is:\n{now.shown}")
            details += [f"{n} differs" for n, d in now.files.items() if kept.files.get(n) != d]
        if new:
            listed = ", ".join(new[:5])
            reasons.append(f"it leaves files that it did not leave at the start: {listed}")
        if not fast:
            figures = "\n".join(f"- {with_spread(group)}" for group in measured.groups)
            details.insert(0, f"Of {self.options.runs} times in a row:\n{figures}")
        if difference:
            reasons.append(difference)
            details.append("A result that is kept or written down is no speed: work it out.")
        right = same and not new and not difference
        cases: dict[str, CaseOutcome] = {
            "time": "passed" if fast else "failed",
            "output": "passed" if right else "failed",
        }
        reason = "; ".join(reasons)
        report = CheckReport(cases, self.command())
        return GoalResult(fast and right, reason, "\n\n".join([reason, *details]), report)
