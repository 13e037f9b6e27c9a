"""Heavy libraries are imported where they are used: with every plugin installed, no other run."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

HEAVY = ("scipy", "sklearn", "matplotlib", "sqlalchemy", "sqlglot", "duckdb", "psycopg", "mcp")
# NumPy too, but for what langchain-core may do with it.
WATCH = """
import json, sys
from retrai_core.cli.main import main
code = 0
try:
    main(sys.argv[2:])
except SystemExit as end:
    code = end.code
found = sorted({name.partition(".")[0] for name in sys.modules} & set(json.loads(sys.argv[1])))
print(json.dumps({"code": code, "heavy": found}), file=sys.stderr)
"""
JOBS = """
import json, sys
from retrai_goals_data.database.jobs import Job, Target
from retrai_goals_data.database.main import do
target = Target("sqlite", path=sys.argv[2])
for kind in ("reach", "check"):
    report = do(Job(kind=kind, target=target, query="SELECT id FROM t WHERE id > 1", runs=1))
    found = sorted({name.partition(".")[0] for name in sys.modules} & set(json.loads(sys.argv[1])))
    print(json.dumps([report.problem, found]))
"""
PYTEST_INI = """[pytest]
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""


def heavy_after(tmp_path: Path, *command: str) -> tuple[int, list[str]]:
    """What a command of retrai has imported of the heavy ones, in a fresh interpreter."""
    kept = {name: value for name, value in os.environ.items() if "RETRAI" not in name}
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CONFIG", "CACHE")}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, json.dumps(HEAVY), *command],
        env={**kept, **folders, "RETRAI_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    said = json.loads(done.stderr.strip().splitlines()[-1])
    return int(said["code"] or 0), said["heavy"]


def record(tmp_path: Path, tool: str, **args: object) -> Path:
    """A recorded run of one call."""
    call = {"id": "c", "name": tool, "args": args}
    event = {"kind": "llm_usage", "run_id": "r", "iteration": 0, "ts": 0.0}
    line = json.dumps({**event, "payload": {"text": "step", "tool_calls": [call]}})
    path = tmp_path / "record.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    return path


def test_run_pytest_imports_no_library_for_data(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pytest.ini").write_text(PYTEST_INI)
    (project / "test_it.py").write_text("import it\n\ndef test_it():\n    assert it.x == 1\n")
    (project / "it.py").write_text("x = 2\n")
    log = record(tmp_path, "file_write", path="it.py", content="x = 1\n")
    run = ("run", "pytest", "-C", str(project), "-m", f"replay:{log}", "-n", "1")
    assert heavy_after(tmp_path, *run) == (0, [])


def test_a_goal_for_data_imports_them_in_another_process(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text("print('loss=2')\n")
    log = record(tmp_path, "file_write", path="train.py", content="print('loss=0.5')\n")
    options = {"train_script": "train.py", "target_metric": "loss", "target_value": "1"}
    given = [part for name, value in options.items() for part in ("--option", f"{name}={value}")]
    run = ("run", "ml-optimize", "-C", str(project), *given, "-m", f"replay:{log}", "-n", "1")
    assert heavy_after(tmp_path, *run) == (0, [])


@pytest.mark.parametrize("command", [("plugins", "list"), ("tools", "list"), ("--help",)])
def test_lists_import_nothing_heavy(tmp_path: Path, command: tuple[str, ...]) -> None:
    assert heavy_after(tmp_path, *command) == (0, [])


def test_what_asks_sqlite_imports_only_what_the_job_needs(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript("CREATE TABLE t (id); INSERT INTO t VALUES (1), (2)")
    command = [sys.executable, "-c", JOBS, json.dumps([*HEAVY, "pydantic"]), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [["", []], ["", ["sqlglot"]]]
