"""The goal `ml-optimize`: a training script reaches a metric."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from retrai_core import (
    CaseOutcome,
    CheckReport,
    Contradiction,
    GoalBase,
    GoalResult,
    Suspicion,
    fresh_folder,
    make_clean_copy,
)
from retrai_goal_support import Trick, audit_lines

from .analysis.metrics import BY_PROBABILITY
from .analysis.tables import TableError
from .ml_held_out import HeldOut, keep_held_out
from .ml_options import AT_LEAST, MlOptimizeOptions
from .ml_seeds import OTHER_SEEDS, WrittenSeeds, change_seeds, seeds_in
from .ml_shuffled import empty_data, shuffle_targets, shuffled_table
from .ml_training import Trained, Training

_SHADOWED = ("sklearn", "numpy", "pandas", "scipy", "torch")
STEERING = (
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    *(f"{name}{end}" for name in _SHADOWED for end in ("/", ".py")),
)
_PATCHES = re.compile(
    r"\b(?:(?:sklearn|torchmetrics)\.)?metrics\.\w+\s*=[^=]|\bsetattr\([^)]*metrics"
)
PROMPT = """\
The goal is `ml-optimize`: `{script}` reaches {metric} {wanted} {value:g}{runs}.

{judged}

- Look at the data before the model: what the columns mean, what is missing, how the classes are \
spread, what could leak. `ml_train` says in one call what the usual estimators give on a CSV file, \
`hypothesis_test` whether a difference is one, `visualize` draws.
- Validate on the training data alone (cross-validation), choose by that, and change one thing at \
a time. A gain within the spread of the folds is none.
- The data and the code that computes the metric are protected. A figure or predictions that are \
written down, a metric that is computed on the training rows, and code that tells a check from \
other runs are no solution, and are looked for.
- Draw all randomness from the seed in the environment variable RETRAI_SEED (`random` and NumPy's \
global state are seeded already), so that the same tree gives the same figure.
- The script has {timeout:g} s.\
"""


class MlOptimize(GoalBase[MlOptimizeOptions]):
    """The project's training script reaches a metric, on held-out rows where there are any. Where
    the script reports its own figure, and the run has written other seeds into it, it is also run
    with two more in their place, and the median counts."""

    name: ClassVar[str] = "ml-optimize"
    summary: ClassVar[str] = "a training script reaches a metric"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    default_tools: ClassVar[Sequence[str]] = (
        *GoalBase.default_tools,
        "python_exec",
        "ml_train",
        "hypothesis_test",
        "visualize",
    )
    protects: ClassVar[str] = "the data, the files that compute the metric, and the test data"
    steers: ClassVar[str] = (
        "new files that Python loads by itself, or in place of the metric's library"
    )

    async def ready(self) -> str | None:
        script = self.context.project / self.options.train_script
        is_there = await asyncio.to_thread(script.is_file)
        if not is_there and not self.options.data_file:
            return f"train_script: there is no file {self.options.train_script} in the project"
        if not self.options.is_held_out:
            return None
        path = self._test_data()
        if (
            path
            and path.is_relative_to(self.context.project)
            and not self.options.test_data_visible
        ):
            return (
                f"test_data {self.options.test_data} lies in the project, where the agent can "
                "read it; move it out of the project, or say `test_data_visible: true`"
            )
        try:
            await self._held_out()
        except TableError as error:
            return str(error)
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        options = self.options
        script = cwd / options.train_script
        if not state and cwd == self.context.project:
            await asyncio.to_thread(self._note_beginning)
        try:
            # Kept even where there is no script yet: later it may be the agent's doing.
            held_out = await self._held_out()
        except TableError as error:
            return self._incomplete(str(error))
        if not await asyncio.to_thread(script.is_file):
            return self._incomplete(f"there is no {options.train_script} yet")
        trainings = await self._train(cwd, held_out)
        bad = next((one for one in trainings if one.value is None), None)
        case = f"{options.target_metric} {options.wanted} {options.target_value:g}"
        scored = "the script ends and is scored"
        command = [self.context.python, options.train_script, *options.args]
        if bad is not None:
            failed: dict[str, CaseOutcome] = {scored: "failed", case: "failed"}
            report = CheckReport(failed, command, self.context.python, bad.complete)
            return GoalResult(False, bad.problem, f"{bad.problem}\n\n{bad.output}", report)
        values = [one.value for one in trainings if one.value is not None]
        is_own_figure = held_out is None and options.reached(median(values))
        others = await self._with_other_seeds(cwd) if is_own_figure else []
        values += others
        achieved = options.reached(median(values))
        cases: dict[str, CaseOutcome] = {scored: "passed", case: "passed" if achieved else "failed"}
        report = CheckReport(cases, command, self.context.python)
        reason = self._reason(values, held_out)
        if others:
            reason += "; the run has written seeds into the script, so it was also run with others"
        details = f"{reason}\n\nThe script printed:\n{trainings[0].output}"
        return GoalResult(achieved, reason, details, report)

    def system_prompt(self) -> str:
        options = self.options
        runs = f" (the median of {options.runs} runs with different seeds)" * (options.runs > 1)
        return PROMPT.format(
            script=options.train_script,
            metric=options.target_metric,
            wanted=options.wanted,
            value=options.target_value,
            runs=runs,
            judged=self._judged(),
            timeout=options.timeout_s,
        )

    def protected(self, project: Path) -> Sequence[str]:
        path = self._test_data()
        inside = path is not None and path.is_relative_to(project)
        held_out = [path.relative_to(project).as_posix()] if path and inside else []
        if self.options.data_file:
            held_out.append(f"/{self.options.data_file}")
        return (*self.options.data, *self.options.metric_files, *held_out)

    def steering(self, project: Path) -> Sequence[str]:
        return STEERING

    def audit(self, diff: str) -> Sequence[Suspicion]:
        return audit_lines(
            diff, self._tricks(), is_source=lambda path: path.endswith((".py", ".ipynb"))
        )

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        """Train on targets that were dealt out anew: then nothing can be learnt from them.

        Only a figure that is as good as with the true ones proves nothing, for a target that is
        within reach of guessing can be reached by guessing.
        """
        options = self.options
        case = next((one for one in cases if one.startswith(f"{options.target_metric} ")), None)
        if case is None:
            return Contradiction()
        held_out = await self._held_out()
        honest = (await self._train(copy, held_out, runs=1))[0].value
        dealt = await asyncio.to_thread(shuffle_targets, copy, options.data, options.target)
        if held_out is not None and held_out.train is not None:
            rows = shuffled_table(held_out.train, options.target)
            held_out, dealt = replace(held_out, train=rows), True
        if not dealt:
            return Contradiction()
        twin = (await self._train(copy, held_out, runs=1))[0].value
        if honest is None or twin is None or not options.reached(twin):
            return Contradiction([case])
        as_good = twin >= honest if options.wanted == AT_LEAST else twin <= honest
        if as_good and not options.target:
            # Nobody said which files it reads: those that it can do without say nothing.
            await asyncio.to_thread(empty_data, copy, options.data)
            without = (await self._train(copy, held_out, runs=1))[0].value
            if without == twin:
                return Contradiction()
        return Contradiction([case], [case] if as_good else [])

    async def _with_other_seeds(self, cwd: Path) -> list[float]:
        """The figures with other seeds in place of those that the run has written; a failed run
        counts as the worst figure. Empty where the run has written none."""
        worst = -inf if self.options.wanted == AT_LEAST else inf
        first = await asyncio.to_thread(WrittenSeeds.load, self._seeds)
        if first is None or not (await asyncio.to_thread(seeds_in, cwd)) - first.seeds:
            return []
        values: list[float] = []
        for by in OTHER_SEEDS:
            async with fresh_folder("retrai-seeds") as room:
                copy = room / cwd.name
                await asyncio.to_thread(make_clean_copy, cwd, copy, without=frozenset({".git"}))
                await asyncio.to_thread(change_seeds, copy, first.seeds, by)
                found = (await self._train(copy, None, runs=1))[0].value
                values.append(worst if found is None else found)
        return values

    def _note_beginning(self) -> None:
        project, data_file = self.context.project, self.options.data_file
        WrittenSeeds(seeds=seeds_in(project)).save(self._seeds)
        if data_file:
            # On a copy the goal replaces this file while the script runs. Touched here, it counts
            # as one that the check itself writes.
            with suppress(OSError):  # it belongs to somebody else
                status = (project / data_file).stat()
                os.utime(project / data_file, ns=(status.st_atime_ns, status.st_mtime_ns))

    @property
    def _seeds(self) -> Path:
        return self.context.run_dir / "ml-optimize" / "seeds.json"

    async def _train(
        self, cwd: Path, held_out: HeldOut | None, runs: int | None = None
    ) -> list[Trained]:
        options = self.options
        training = Training(
            sandbox=self.context.sandbox,
            python=self.context.python,
            options=options,
            held_out=held_out,
            # Not in the project itself, where somebody may look at the file at the same time.
            data_file=options.data_file if cwd != self.context.project else "",
        )
        found: list[Trained] = []
        for number in range(runs or options.runs):
            found.append(await training.run(cwd, options.seed + number))
            if found[-1].value is None:
                break
        return found

    async def _held_out(self) -> HeldOut | None:
        context, options = self.context, self.options
        path, share = self._test_data(), None
        if options.data_file:
            path, share = context.project / options.data_file, options.held_out_share
        if path is None:
            return None
        return await asyncio.to_thread(
            keep_held_out, path, context.run_dir, options.target, context.run_id, share
        )

    def _test_data(self) -> Path | None:
        name = self.options.test_data
        return (self.context.project / Path(name).expanduser()).resolve() if name else None

    def _reason(self, values: Sequence[float], held_out: HeldOut | None) -> str:
        options = self.options
        spread = f" (median of {len(values)}, {min(values):.6g} to {max(values):.6g})"
        figure = f"{options.target_metric} {median(values):.6g}{spread if len(values) > 1 else ''}"
        if held_out is None:
            source = "as the script itself says"
        else:
            seen = " that lie in the project" if options.test_data_visible else ""
            source = f"on {len(held_out.truth)} held-out rows{seen}"
        return f"{figure} {source}, wanted {options.wanted} {options.target_value:g}"

    def _judged(self) -> str:
        if not self.options.is_held_out:
            return (
                f"The script reports its own figure: it prints `{self.options.target_metric}=0.9` "
                "or a JSON object on its last line, or writes one to the file that RETRAI_METRICS "
                "names. Compute it honestly, on rows that the model was not fitted to. A lucky "
                "seed or split is no better model: a script in which you have written seeds is run "
                "with others too, and the median counts."
            )
        column = "`prediction`"
        if self.options.target_metric in BY_PROBABILITY:
            column = "`probability`, that of the class that is last in sorted order"
        known, data = "neither you nor the script know", ""
        if self.options.data_file:
            known = "are a part of the data file; which ones, neither you nor the script know"
            data = (
                f"The other rows of `{self.options.data_file}` are in the CSV file that "
                "RETRAI_TRAIN names: read them from there, and from the data file where that "
                "variable is not set. Write the script if there is none yet. "
            )
        return (
            f"{data}The figure is computed by retrai on held-out rows that {known}: "
            "RETRAI_TEST_FEATURES names a CSV file with their columns without "
            f"`{self.options.target}`, in an order of its own, and the script writes one answer "
            "for each, in the same order, to the CSV file that RETRAI_PREDICTIONS names, under the "
            f"header {column}. Where these variables are not set it may do as it likes."
        )

    def _tricks(self) -> Sequence[Trick]:
        figure = rf"\b{re.escape(self.options.target_metric)}[\"']?\s*[:=]\s*[01]?\.\d{{2,}}"
        written = re.compile(figure, re.IGNORECASE)
        # A comment may say what was reached; what is printed or written is the answer.
        reported = re.compile(rf"(?:print|write\w*|dumps?)\s*\([^#]*{figure}", re.IGNORECASE)
        tricks = [
            Trick(_PATCHES, "replaces a metric", reaches_runner=True),
            Trick(written, "a figure that is written down"),
            Trick(reported, "reports a figure that is written down", reaches_runner=True),
        ]
        path = self._test_data()
        if path is not None:
            named = re.compile(re.escape(path.name))
            tricks.append(Trick(named, "names the held-out file", reaches_runner=True))
        return tricks

    def _incomplete(self, problem: str) -> GoalResult:
        command = [self.context.python, self.options.train_script]
        report = CheckReport({}, command, self.context.python, complete=False)
        return GoalResult(False, problem, problem, report)
