"""Makes the Python of test projects, and runs retrai in this process."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import tempfile
import venv
from collections.abc import Callable, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from packaging.requirements import Requirement

if TYPE_CHECKING:
    from retrai_testkit import RetraiProject

PROJECT_PYTHON = "TESTS_PROJECT_PYTHON"
"""The variable that names the interpreter of projects which have no environment of their own."""
SELDOM_IMPORTED = re.compile(r"/pygments/(lexers|styles|formatters)/")


settings.register_profile("no time limits", parent=settings.default, deadline=None)
settings.load_profile("no time limits")


def pytest_configure(config: pytest.Config) -> None:
    """Make an environment with pytest and nothing else, as a small project's is.

    The suite's own has pytest plugins of its dependencies, which take two seconds of processor time
    whenever a project's tests are run. The workers of pytest-xdist inherit the controller's.
    """
    if PROJECT_PYTHON in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="project-python-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for found in _with_requirements("pytest"):
        _copy(found, site)
    compileall.compile_dir(site, quiet=1, rx=SELDOM_IMPORTED)
    programs = folder / "bin"
    os.environ[PROJECT_PYTHON] = str(programs / "python")
    # As if it were active: runs of a process of their own find it where nothing else is named.
    os.environ["VIRTUAL_ENV"] = str(folder)
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def retrai_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command of retrai as `subprocess.run` would, in this process.

    A process of its own takes two seconds of processor time to import what a run needs. Those that
    look at the process itself (what it imports, signals, what it leaves running) start one.
    """
    from retrai_core.cli.main import main

    def run(
        *words: str, env: Mapping[str, str], cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            for name in os.environ.keys() - env.keys():
                patch.delenv(name)
            for name, value in env.items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            exit_code = main(words)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, exit_code, out, err)

    return run


@pytest.fixture
def retrai_project_here(
    tmp_path: Path, retrai_here: Callable[..., subprocess.CompletedProcess[str]]
) -> RetraiProject:
    """A project as the kit's fixture `retrai_project` gives it, with its commands in this process.

    Folders whose tests are about no process of retrai's own put it in that fixture's place.
    """
    from retrai_testkit import FinishedRun, RetraiProject

    class Here(RetraiProject):
        def command(self, *args: str, timeout_s: float = 0) -> FinishedRun:
            every = os.environ.items()
            kept = {name: text for name, text in every if not name.startswith("RETRAI_")}
            done = retrai_here(*args, env={**kept, **self.environment}, cwd=self.folder)
            return FinishedRun(done.returncode, done.stdout, done.stderr)

    return Here(tmp_path / "retrai")


def _with_requirements(name: str) -> list[Distribution]:
    """The installed distribution and all that it requires here."""
    found: dict[str, Distribution] = {}
    wanted = [name]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found[name] = distribution(name)
        needed = [Requirement(line) for line in found[name].requires or ()]
        wanted += [need.name for need in needed if not need.marker or need.marker.evaluate()]
    return list(found.values())


def _copy(installed: Distribution, site: Path) -> None:
    for file in installed.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), site / file)
