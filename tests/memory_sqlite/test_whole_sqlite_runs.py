"""Memory through the command line: what a run in one project leaves for a run in another."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Here = Callable[..., subprocess.CompletedProcess[str]]
PYTEST_INI = """[pytest]
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""
BROKEN = "def add(a, b):\n    return a - b\n"
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"


def retrai(here: Here, room: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if "RETRAI" not in name}
    folders = {f"XDG_{name}_HOME": str(room / name) for name in ("STATE", "CONFIG", "CACHE")}
    more = {"RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"], "RETRAI_MEMORY": "sqlite"}
    return here(*words, env={**kept, **folders, **more, "RETRAI_STATE_DIR": str(room / "state")})


def replay(here: Here, project: Path, room: Path, command: str) -> dict[str, Any]:
    """Run retrai with one recorded shell command; the run record."""
    project.mkdir()
    for name, text in {"pytest.ini": PYTEST_INI, "adding.py": BROKEN, "test_it.py": TEST}.items():
        (project / name).write_text(text, encoding="utf-8")
    call = {"id": "c", "name": "bash_exec", "args": {"command": command}}
    event = {"kind": "llm_usage", "run_id": "r", "iteration": 0, "ts": 0.0}
    line = json.dumps({**event, "payload": {"text": "The sign was wrong.", "tool_calls": [call]}})
    (room / "record.jsonl").write_text(line + "\n", encoding="utf-8")
    model = ("-m", f"replay:{room / 'record.jsonl'}", "-n", "1", "--json")
    done = retrai(here, room, "run", "pytest", "-C", str(project), *model)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_run_elsewhere_is_told_and_the_list_shows_it(tmp_path: Path, retrai_here: Here) -> None:
    fixed = replay(retrai_here, tmp_path / "one", tmp_path, "sed -i 's/a - b/a + b/' adding.py")
    assert fixed["status"] == "achieved", fixed["reason"]
    listed = retrai(retrai_here, tmp_path, "memory", "list", "-C", str(tmp_path / "one"))
    assert listed.returncode == 0, listed.stderr
    assert "adding.py" in listed.stdout
    failed = replay(retrai_here, tmp_path / "two", tmp_path, "ls")
    assert failed["status"] == "failed"
    # The failed run had been told it: its failure counts against it.
    import sqlite3

    connection = sqlite3.connect(tmp_path / "state" / "memory.sqlite3")
    rows = connection.execute("SELECT success_count, failure_count FROM entry").fetchall()
    connection.close()
    assert rows == [(1, 1)]
    assert not (tmp_path / "one" / ".retrai").exists()
