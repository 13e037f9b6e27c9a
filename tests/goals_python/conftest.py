"""Small real projects, run by a real pytest in the real local sandbox."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from retrai_core import ProcessOptions, RunContext
from retrai_core.verification.guarded_sandbox import guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_goals_python.pytest.goal import PytestGoal, PytestGoalOptions
from retrai_goals_python.runner import PytestRun, run_pytest
from retrai_sandbox_local.sandbox import LocalSandbox

MakeProject = Callable[[Mapping[str, str]], Path]
Run = Callable[..., Awaitable[PytestRun]]
FIRST = """\
import sys; sys.path.insert(0, next(one for one in sys.path if one.endswith("site-packages")))
"""


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
    options = ProcessOptions(grace_s=0.2, pass_env=["PYTEST_DISABLE_PLUGIN_AUTOLOAD"])
    context.sandbox_part = guarded_sandbox(LocalSandbox(options, context))
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


def pip_install(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
    """Install into a virtual environment that has no pip of its own; fails with what pip said."""
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    done = subprocess.run(
        [*command, "-q", "--no-input", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=env,
    )
    assert done.returncode == 0, done.stderr[-1000:]


@pytest.fixture(scope="session")
def make_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Gives the folder of a virtual environment with these packages, made once for all workers.

    Tests that change one take a copy of it.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def make(name: str, *wanted: str) -> Path:
        folder, made = root / f"{name}-env", root / f"{name}-env.made"
        with (root / f"{name}-env.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                command = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)]
                subprocess.run(command, check=True)
                if find_spec("sitecustomize"):
                    # Debian's Python has one, which stands before that of any environment.
                    (site,) = folder.glob("lib/python*/site-packages")
                    (site / "first.pth").write_text(FIRST)
                try:
                    pip_install(folder, *wanted)
                except AssertionError as error:
                    pytest.skip(f"needs pip with an index that has {', '.join(wanted)}: {error}")
                made.touch()
        return folder

    return make


@pytest.fixture
def install_into() -> Callable[..., None]:
    """`pip install` for an environment that has no pip of its own."""
    return pip_install


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
