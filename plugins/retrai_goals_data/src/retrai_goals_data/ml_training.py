"""Runs a project's training script once: seeds fixed, figures and predictions outside of it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retrai_core import Completed, Sandbox, ToolError, fresh_folder

from .analysis.jobs import Outcome, ScoreJob
from .child import Child, ChildError
from .ml_held_out import HeldOut
from .ml_options import MlOptimizeOptions
from .ml_reporting import reported

SCORE_TIMEOUT_S = 60.0
MAX_PREDICTIONS = 50_000_000

# Seeds what a script most often draws from; it finds its own modules as if it were started plainly.
_START = """\
import os, random, runpy, sys
from importlib.util import find_spec
seed = int(os.environ["RETRAI_SEED"])
random.seed(seed)
sys.argv.pop(0)
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
if find_spec("numpy"):
    import numpy
    numpy.random.seed(seed)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Trained:
    """One run of the script.

    Attributes:
        value: of the metric; None where there is none.
        problem: why there is none.
        output: the end of what the script printed.
        complete: the script ended well, by itself.
    """

    value: float | None
    problem: str = ""
    output: str = ""
    complete: bool = True


@dataclass(frozen=True)
class Training:
    """How a script is run and its result is scored.

    Attributes:
        sandbox: where.
        python: the project's interpreter.
        options: of the goal: the script and its arguments, the metric, the time-out.
        held_out: what the metric is computed on; None takes the script at its word.
        data_file: where the script finds the training rows if `held_out` has some, relative to
            `cwd`; its own content is put back afterwards. Empty where it is left alone.
    """

    sandbox: Sandbox
    python: str
    options: MlOptimizeOptions
    held_out: HeldOut | None
    data_file: str = ""

    async def run(self, cwd: Path, seed: int) -> Trained:
        """Train once and say what came of it."""
        async with fresh_folder("retrai-training") as folder:
            await asyncio.to_thread(self._prepare, folder)
            try:
                with self._training_rows(cwd):
                    done = await self._start(cwd, folder, seed)
            except ToolError as error:
                return Trained(None, f"the script cannot be started: {error}", complete=False)
            output = _tail(done)
            if done.timed_out:
                problem = f"the script was still running after {self.options.timeout_s:g} s"
                return Trained(None, problem, output, complete=False)
            if done.exit_code != 0:
                lines = done.stderr.strip().splitlines()
                said = f": {lines[-1][:200]}" if lines else ""
                problem = f"the script ended with status {done.exit_code}{said}"
                return Trained(None, problem, output, complete=False)
            found = await self._figure(folder, done.stdout, cwd)
            if isinstance(found, str):
                return Trained(None, found, output)
            return Trained(found, "", output)

    def _prepare(self, folder: Path) -> None:
        if self.held_out is not None:
            (folder / "features.csv").write_bytes(self.held_out.features)
            if self.held_out.train is not None:
                (folder / "train.csv").write_bytes(self.held_out.train)

    @contextmanager
    def _training_rows(self, cwd: Path) -> Generator[None]:
        """Leave only the training rows in the data file while the script runs."""
        rows = self.held_out.train if self.held_out is not None else None
        if rows is None or not self.data_file:
            yield
            return
        path = cwd / self.data_file
        before = path.read_bytes()
        path.write_bytes(rows)
        try:
            yield
        finally:
            path.write_bytes(before)

    async def _start(self, cwd: Path, folder: Path, seed: int) -> Completed:
        held_out = {"RETRAI_TEST_FEATURES": str(folder / "features.csv")}
        if self.held_out is not None and self.held_out.train is not None:
            held_out["RETRAI_TRAIN"] = str(folder / "train.csv")
        return await self.sandbox.run(
            [self.python, "-c", _START, self.options.train_script, *self.options.args],
            timeout_s=self.options.timeout_s,
            cwd=cwd,
            env={
                "PYTHONHASHSEED": str(seed),
                "PYTHONDONTWRITEBYTECODE": "1",
                "MPLBACKEND": "Agg",
                "RETRAI_SEED": str(seed),
                "RETRAI_METRICS": str(folder / "metrics.json"),
                "RETRAI_PREDICTIONS": str(folder / "predictions.csv"),
                **(held_out if self.held_out is not None else {}),
            },
            writable=[folder],
        )

    async def _figure(self, folder: Path, stdout: str, cwd: Path) -> float | str:
        metric = self.options.target_metric
        if self.held_out is None:
            return await asyncio.to_thread(reported, folder / "metrics.json", stdout, metric)
        predictions = await asyncio.to_thread(_read_predictions, folder / "predictions.csv")
        if isinstance(predictions, str):
            return predictions
        child = Child("retrai_goals_data.analysis.scoring", SCORE_TIMEOUT_S)
        job = ScoreJob(truth=self.held_out.truth, metric=metric)
        try:
            scored = await child.run(self.sandbox, job, Outcome, data=predictions, cwd=cwd)
        except ChildError as error:
            return f"the predictions were not scored: {error}"
        value = scored.data.get("score")
        return value if isinstance(value, float) else scored.problem


def _read_predictions(path: Path) -> bytes | str:
    try:
        if path.is_symlink() or not path.is_file():
            return (
                "the script wrote no predictions: for the rows in the CSV file that "
                "RETRAI_TEST_FEATURES names it writes a CSV file with the column `prediction` "
                "(`probability` for roc_auc, log_loss, brier) to RETRAI_PREDICTIONS"
            )
        if path.stat().st_size > MAX_PREDICTIONS:
            return "the predictions are larger than 50 MB"
        return path.read_bytes()
    except OSError as error:
        return f"the predictions cannot be read: {error.strerror}"


def _tail(done: Completed) -> str:
    parts = [done.stdout.strip()[-2000:], done.stderr.strip()[-3000:]]
    return "\n".join(part for part in parts if part)
