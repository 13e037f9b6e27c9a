"""One distribution of each kind, written by `retrai plugins new`, built, and installed in a folder.

The folder stands on the import path of the commands that the tests run: what is installed in this
environment is there too, and the environment itself stays as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from retrai_plugin_dev.new_distribution import NewDistribution, new_distribution

NAMES = {
    "goal": "script-passes",
    "tool": "word_count",
    "llm": "echoes",
    "memory": "journal",
    "frontend": "run-count",
    "agent": "patient",
    "sandbox": "ceiling",
    "sink": "diary",
    "hook": "keeper",
}

_BUILD = """
import sys
from hatchling.builders.wheel import WheelBuilder
for folder in sys.argv[2:]:
    print(next(WheelBuilder(folder).build(directory=sys.argv[1], versions=["standard"])))
"""


@dataclass(frozen=True)
class Installed:
    """The distributions by kind, where their sources are, and where they are installed."""

    made: Mapping[str, NewDistribution]
    sources: Path
    site: Path

    def run(self, *args: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run this Python with them on its import path."""
        ours = ("RETRAI_", "PYTEST_")
        env = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
        env |= {"PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
        return subprocess.run(
            [sys.executable, *args],
            cwd=cwd,
            env=env | variables,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    pytest.importorskip("hatchling")
    base = tmp_path_factory.mktemp("templates")
    sources, site, wheels = base / "sources", base / "site", base / "wheels"
    made = {kind: new_distribution(kind, name, "Ada <a@b.org>") for kind, name in NAMES.items()}
    for dist in made.values():
        dist.write(sources / dist.dist)
    folders = [str(sources / dist.dist) for dist in made.values()]
    subprocess.run(
        [sys.executable, "-c", _BUILD, str(wheels), *folders], check=True, capture_output=True
    )
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    return Installed(made, sources, site)


@pytest.fixture
def retrai(tmp_path: Path, monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in an empty folder: exit code, standard output, standard error."""
    from retrai_core.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> tuple[int, str, str]:
        code = main(args)
        out, err = capsys.readouterr()
        return code, out, err

    return run
