"""Memory through the command line: what one run leaves, and what a failed one takes back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Here = Callable[..., subprocess.CompletedProcess[str]]
# Without the pytest plugins of the tests' own interpreter, which cost more than the run itself.
PYTEST_INI = """[pytest]
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""
BROKEN = "def add(a, b):\n    return a - b\n"
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"


@pytest.fixture
def broken_project(project: Path) -> Path:
    files = {"pytest.ini": PYTEST_INI, "adding.py": BROKEN, "test_it.py": TEST}
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")
    return project


def replay(here: Here, project: Path, room: Path, command: str, text: str) -> dict[str, Any]:
    """Run retrai with one recorded shell command; the run record."""
    call = {"id": "c", "name": "bash_exec", "args": {"command": command}}
    event = {"kind": "llm_usage", "run_id": "r", "iteration": 0, "ts": 0.0}
    line = json.dumps({**event, "payload": {"text": text, "tool_calls": [call]}})
    (room / "record.jsonl").write_text(line + "\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if "RETRAI" not in name}
    folders = {"XDG_STATE_HOME": str(room / "state"), "XDG_CONFIG_HOME": str(room / "config")}
    done = here(
        *("run", "pytest", "-C", str(project)),
        *("-m", f"replay:{room / 'record.jsonl'}", "-n", "1", "--json"),
        env={**kept, **folders, "RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"]},
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_run_that_works_is_remembered_and_one_that_fails_takes_trust_away(
    broken_project: Path, tmp_path: Path, retrai_here: Here
) -> None:
    fix = "sed -i 's/a - b/a + b/' adding.py"
    fixed = replay(retrai_here, broken_project, tmp_path, fix, "The sign was wrong.")
    assert fixed["status"] == "achieved", fixed["reason"]
    assert fixed["changed_files"] == ["adding.py"]
    path = broken_project / ".retrai" / "memory.json"
    (entry,) = json.loads(path.read_text(encoding="utf-8"))["strategies"]
    assert entry == {
        "goal": "pytest",
        "pattern": (
            "When some tests fail: a change to adding.py made the check pass (tools: bash_exec)."
        ),
        "note": "The sign was wrong.",
        "success_count": 1,
        "failure_count": 0,
    }
    (broken_project / "adding.py").write_text(BROKEN, encoding="utf-8")
    failed = replay(retrai_here, broken_project, tmp_path, "ls", "I only look.")
    assert failed["status"] == "failed"
    (entry,) = json.loads(path.read_text(encoding="utf-8"))["strategies"]
    assert (entry["success_count"], entry["failure_count"]) == (1, 1)
