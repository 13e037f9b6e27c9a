"""Running the harness: alone, without the project's own configuration of pytest."""

from __future__ import annotations

import os
from pathlib import Path

from retrai_core import Sandbox
from retrai_goals_python.runner import PytestRun, run_pytest

from .harness import HARNESS

_ALONE = (
    # Nothing of the project steers it: no conftest.py, no pytest.ini, no option of addopts.
    *("--noconftest", "-c", os.devnull, "--rootdir", "."),
    # Otherwise the harness's own folder would be the first place that modules are taken from.
    *("--import-mode", "importlib"),
    *("-p", "no:cacheprovider"),
)


async def run_harness(sandbox: Sandbox, python: str, cwd: Path, timeout_s: float) -> PytestRun:
    """What every case of the harness in `cwd` comes to; the project is importable as from its root.

    Args:
        sandbox: where it runs.
        python: the project's interpreter.
        cwd: the project, or a copy of it.
        timeout_s: wall-clock seconds for all of it.
    """
    env = {"PYTHONPATH": str(cwd / "src")} if (cwd / "src").is_dir() else None
    return await run_pytest(
        sandbox, python, cwd, targets=[HARNESS], extra_args=_ALONE, timeout_s=timeout_s, env=env
    )


def outcome_line(run: PytestRun) -> str:
    """One line for people."""
    if not run.complete:
        return run.problem or "pytest did not end well"
    counts = run.counts()
    said = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    return said or "no test was collected"
