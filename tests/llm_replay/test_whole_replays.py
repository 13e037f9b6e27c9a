"""Replays through the command line: again from a run's own log, and on from where one stopped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Without the pytest plugins of the tests' own interpreter, which cost more than the run itself.
PYTEST_INI = """[pytest]
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""
BROKEN = "def add(a, b):\n    return a - b\n"
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
MEND = "sed -i 's/a - b/a + b/' /testbed/adding.py"

Retrai = Callable[..., dict[str, Any]]


@pytest.fixture
def broken_project(project: Path) -> Path:
    for name, text in (("pytest.ini", PYTEST_INI), ("adding.py", BROKEN), ("test_it.py", TEST)):
        (project / name).write_text(text, encoding="utf-8")
    return project


@pytest.fixture
def state_home(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def retrai(
    tmp_path: Path,
    state_home: Path,
    retrai_here: Callable[..., subprocess.CompletedProcess[str]],
) -> Retrai:
    """Run a retrai command and read the run record that it prints."""

    def run(*arguments: str, cwd: Path = tmp_path) -> dict[str, Any]:
        kept = {name: value for name, value in os.environ.items() if "RETRAI" not in name}
        folders = {"XDG_STATE_HOME": str(state_home), "XDG_CONFIG_HOME": str(tmp_path / "config")}
        python = {"RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"]}
        done = retrai_here(*arguments, "--json", env={**kept, **folders, **python}, cwd=cwd)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


def test_a_runs_own_log_mends_the_same_project_elsewhere(
    retrai: Retrai,
    state_home: Path,
    broken_project: Path,
    write_trajectory: Callable[..., Path],
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "the same project elsewhere"
    shutil.copytree(broken_project, elsewhere)
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && touch never"
    record = write_trajectory("cat /testbed/adding.py", MEND, submit)
    first = retrai("run", "pytest", "-C", str(broken_project), "-m", f"replay:{record}")
    assert (first["status"], first["iterations"]) == ("achieved", 2), first["reason"]
    (log,) = state_home.rglob("runs/*/events.jsonl")
    again = retrai("run", "pytest", "-C", str(elsewhere), "-m", f"replay:{log.parent}")
    assert (again["status"], again["iterations"]) == ("achieved", 2), again["reason"]
    # The log's absolute paths meant the first project, and mean the second one now.
    assert (elsewhere / "adding.py").read_text() == (broken_project / "adding.py").read_text()
    assert again["changed_files"] == first["changed_files"] == ["adding.py"]
    assert (again["tokens"]["total"], again["cost_usd"]) == (0, 0)


def test_a_resumed_replay_repeats_and_skips_nothing(
    retrai: Retrai, broken_project: Path, write_trajectory: Callable[..., Path], tmp_path: Path
) -> None:
    steps = [f"echo {number} >> /testbed/steps.txt" for number in range(4)]
    record = write_trajectory(*steps, MEND)
    stopped = retrai(
        *("run", "pytest", "-C", str(broken_project), "-n", "2"),
        *("-m", f"replay:{record.name}"),
        cwd=record.parent,
    )
    assert (stopped["status"], stopped["iterations"]) == ("failed", 2)
    # From another folder, where the relative name of the record means nothing.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    resumed = retrai("runs", "resume", stopped["id"], "-n", "20", cwd=elsewhere)
    assert (resumed["status"], resumed["iterations"]) == ("achieved", 5), resumed["reason"]
    assert (broken_project / "steps.txt").read_text().split() == ["0", "1", "2", "3"]
