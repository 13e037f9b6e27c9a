"""For each Python goal a pair of whole runs: one that mends its example, and one that does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
Here = Callable[..., subprocess.CompletedProcess[str]]
Call = tuple[str, dict[str, str]]
LOOK: Call = ("file_list", {"path": "."})
# Plugins of the interpreter that runs these tests cost more time than the example's tests.
QUICK = "[pytest]\npythonpath = {path}\naddopts = -p no:xdist\n"


def patch(path: str, old: str, new: str) -> Call:
    """One exact replacement."""
    return "file_patch", {"path": path, "old": old, "new": new}


PYRIGHT = [
    patch("shop/prices.py", "PRICES.get(item)", "PRICES.get(item, 0)"),
    patch("shop/orders.py", "default_factory=dict)", "default_factory=dict[str, int])"),
    patch("shop/orders.py", '"total: " + self.total()', 'f"total: {self.total()}"'),
]
PYTEST = [patch("ages.py", "age > 18", "age >= 18")]
PYTEST_FILES = {
    "ages.py": "def of_age(age):\n    return age > 18\n",
    "test_ages.py": "from ages import of_age\n\n\ndef test_eighteen():\n    assert of_age(18)\n",
    "pytest.ini": QUICK.format(path="."),
}


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    if request.param == "pyright":
        shutil.copytree(EXAMPLES / "pyright", folder)
        return folder
    folder.mkdir()
    for name, text in PYTEST_FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(here: Here, goal: str, project: Path, calls: list[Call]) -> tuple[int, dict[str, Any]]:
    """Replay these calls, an iteration each; the exit code and the run's record."""
    lines: list[str] = []
    for number, (name, args) in enumerate(calls):
        made = {"id": f"c{number}", "name": name, "args": args}
        payload = {"text": f"step {number}", "tool_calls": [made]}
        event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
        lines.append(json.dumps({**event, "payload": payload}) + "\n")
    record = project.with_name("recorded.jsonl")
    record.write_text("".join(lines), encoding="utf-8")
    home = project.with_name("home")
    command = ["run", goal, "-C", str(project), "--json"]
    command += ["-m", f"replay:{record}", "-n", str(len(calls))]
    folders = {"RETRAI_STATE_DIR": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    done = here(*command, env=os.environ | folders)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


GOALS = pytest.mark.parametrize(
    ("project", "goal", "calls"),
    [("pytest", "pytest", PYTEST), ("pyright", "pyright", PYRIGHT)],
    ids=["pytest", "pyright"],
    indirect=["project"],
)


@GOALS
def test_a_trajectory_that_mends_it_is_achieved(
    goal: str, project: Path, calls: list[Call], retrai_here: Here
) -> None:
    code, record = run(retrai_here, goal, project, calls)
    assert (code, record["status"]) == (0, "achieved"), record["reason"]
    assert record["before"]["achieved"] is False
    assert set(record["after"]["counts"]) == {"passed"}


@GOALS
def test_its_twin_that_only_looks_has_failed(
    goal: str, project: Path, calls: list[Call], retrai_here: Here
) -> None:
    code, record = run(retrai_here, goal, project, [LOOK] * 2)
    assert (code, record["status"]) == (1, "failed"), record["reason"]
    assert record["after"]["counts"].get("failed")
