"""Small real projects, run by a real pytest in the real local sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from retrai_core import RunContext
from retrai_core.sandbox.local import LocalOptions, LocalSandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_goals_python.pytest_goal import PytestGoal, PytestGoalOptions
from retrai_goals_python.runner import PytestRun, run_pytest

MakeProject = Callable[[Mapping[str, str]], Path]
Run = Callable[..., Awaitable[PytestRun]]


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Writes files (indentation taken off) into a project in a path with spaces and an umlaut."""

    def make(files: Mapping[str, str]) -> Path:
        project = tmp_path / "mein Projekt für retrai"
        project.mkdir(exist_ok=True)
        for name, text in files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), "utf-8")
        return project

    return make


@pytest.fixture
async def context(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RunContext]:
    """A run's context with a sandbox, in which pytest loads no plugin (this one's are slow)."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project = make_project({})
    context = RunContext("r1", project, SafeWorkspace(project), sys.executable, project)
    options = LocalOptions(grace_s=0.2, pass_env=["PYTEST_DISABLE_PLUGIN_AUTOLOAD"])
    context.sandbox_part = LocalSandbox(options, context)
    yield context
    await context.sandbox.aclose()


@pytest.fixture
def run(context: RunContext) -> Run:
    """Runs pytest in the project; `plugins=True` loads the environment's pytest plugins."""

    async def start(*args: str, plugins: bool = False, **options: object) -> PytestRun:
        options.setdefault("env", {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""} if plugins else {})
        options.setdefault("timeout_s", 60.0)
        python = str(options.pop("python", sys.executable))
        return await run_pytest(
            context.sandbox,
            python,
            context.project,
            extra_args=args,
            **options,  # type: ignore[arg-type]  # the callers' words are passed on as they are
        )

    return start


@pytest.fixture
def make_goal(context: RunContext) -> Callable[..., PytestGoal]:
    def make(**options: object) -> PytestGoal:
        return PytestGoal(PytestGoalOptions.model_validate(options), context)

    return make


@pytest.fixture(scope="session")
def old_python() -> str:
    """An interpreter older than retrai's own that has pytest; named by TESTS_OLD_PYTHON in CI."""
    names = [os.environ.get("TESTS_OLD_PYTHON", ""), "python3.9", "python3.8", "python3.7"]
    for name in filter(None, names):
        found = shutil.which(name)
        if found is None:
            continue
        probe = [found, "-c", "import pytest"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return found
    pytest.skip("needs python3.9, 3.8 or 3.7 with pytest (or TESTS_OLD_PYTHON)")


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without pytest."""
    folder = tmp_path_factory.mktemp("bare")
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return str(folder / "bin" / "python")
