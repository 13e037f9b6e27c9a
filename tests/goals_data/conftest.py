"""Projects with a database, and the goal or tool that looks at them, in a real sandbox."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core import GoalBase, ProcessOptions, RunContext, Tool
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox

pytest.importorskip("retrai_goals_data")

EXAMPLE = Path(__file__).parents[2] / "examples" / "sql-benchmark"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A shop whose query takes much too long."""
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder)
    subprocess.run([sys.executable, "seed.py"], cwd=folder, check=True, timeout=60)
    return folder


@pytest.fixture
async def context(tmp_path: Path) -> AsyncGenerator[RunContext]:
    """The context of a run in `shop`, whose sandbox is real."""
    folder = tmp_path / "shop"
    folder.mkdir(exist_ok=True)
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    context = RunContext("r1", folder, SafeWorkspace(folder), sys.executable, run_dir)
    sandbox = LocalSandbox(ProcessOptions(grace_s=0.2), context)
    context.sandbox_part = sandbox
    yield context
    await sandbox.aclose()


@pytest.fixture
def new_goal(context: RunContext) -> Callable[..., Any]:
    """A goal of this run by class and options."""

    def make(goal_type: type[GoalBase], **options: object) -> Any:
        goal = goal_type(goal_type.Options.model_validate(options), context)
        context.goal_part = goal
        return goal

    return make


@pytest.fixture
def call(context: RunContext) -> Callable[..., Any]:
    """Call a tool as `act` does: its arguments validated."""

    async def run(tool_type: type[Tool], options: dict[str, object] | None = None, **args: object):
        tool = tool_type(tool_type.Options.model_validate(options or {}), context)
        return await tool.run(tool_type.Args.model_validate(args), context)

    return run
