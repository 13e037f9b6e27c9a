"""Both goals through `retrai run`: a recorded run that fixes the project, and a useless twin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
INDEX = "CREATE INDEX by_customer ON orders (customer_id, total)"
TREE = (
    "sed -i -e 's/linear_model import LogisticRegression/tree import DecisionTreeClassifier/' "
    "-e 's/LogisticRegression()/DecisionTreeClassifier(random_state=0)/' train.py"
)
Replay = Callable[..., tuple[int, dict[str, Any]]]


def example(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES / name, folder)
    subprocess.run([sys.executable, "seed.py"], cwd=folder, check=True, timeout=60)
    return folder


@pytest.fixture
def replay(retrai_here: Callable[..., subprocess.CompletedProcess[str]]) -> Replay:
    """Runs retrai with recorded calls, one an iteration; the exit code and the run record."""
    return partial(_replay, retrai_here)


def _replay(
    retrai: Callable[..., subprocess.CompletedProcess[str]],
    project: Path,
    *calls: tuple[str, dict[str, Any]],
) -> tuple[int, dict[str, Any]]:
    room = project.parent
    lines: list[str] = []
    for number, (name, args) in enumerate(calls):
        call = {"id": f"c{number}", "name": name, "args": args}
        event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
        payload = {"text": f"step {number}", "tool_calls": [call]}
        lines.append(json.dumps({**event, "payload": payload}))
    (room / "record.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if "RETRAI" not in name}
    folders = {f"XDG_{name}_HOME": str(room / name) for name in ("STATE", "CONFIG", "CACHE")}
    # Given like this, the project's own configuration needs nobody's trust.
    settings = (project / ".retrai.yml").read_text(encoding="utf-8").splitlines()
    (project / ".retrai.yml").unlink()
    goal, *options = [line.split(": ", 1) for line in settings]
    given = [part for name, value in options for part in ("--option", f"{name}={value}")]
    done = retrai(
        *("run", goal[1], "-C", str(project), *given),
        *("-m", f"replay:{room / 'record.jsonl'}", "-n", str(len(calls)), "--json"),
        env={**kept, **folders, "RETRAI_PYTHON": sys.executable},
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_an_index_through_sql_bench_achieves_sql_benchmark(tmp_path: Path, replay: Replay) -> None:
    project = example(tmp_path, "sql-benchmark")
    code, record = replay(project, ("sql_bench", {"query": INDEX}))
    assert (code, record["status"]) == (0, "achieved"), record["reason"]
    assert record["goals"][0]["after"]["reason"].startswith("median ")
    assert record["goals"][0]["before"]["reason"].startswith("it is too slow")
    assert record["changed_files"] == ["shop.db"]


def test_looking_at_the_plan_alone_fails_sql_benchmark(tmp_path: Path, replay: Replay) -> None:
    project = example(tmp_path, "sql-benchmark")
    code, record = replay(project, ("sql_bench", {"query": "SELECT count(*) FROM orders"}))
    assert (code, record["status"]) == (1, "failed")
    assert "it is too slow" in record["goals"][0]["after"]["reason"]


def test_a_materialised_answer_does_not_achieve_sql_benchmark(
    tmp_path: Path, replay: Replay
) -> None:
    project = example(tmp_path, "sql-benchmark")
    script = (
        "import sqlite3; c = sqlite3.connect('shop.db'); "
        "c.execute('CREATE TABLE kept AS ' + open('report.sql').read()); c.commit(); "
        "open('report.sql', 'w').write('SELECT name, spent FROM kept ORDER BY spent DESC, name')"
    )
    code, record = replay(project, ("python_exec", {"code": script}))
    assert (code, record["status"]) == (1, "failed"), record["reason"]


def test_a_better_model_achieves_ml_optimize(tmp_path: Path, replay: Replay) -> None:
    pytest.importorskip("sklearn")
    project = example(tmp_path, "ml-optimize")
    code, record = replay(project, ("bash_exec", {"command": TREE}))
    assert (code, record["status"]) == (0, "achieved"), record["reason"]
    assert "on 120 held-out rows" in record["goals"][0]["after"]["reason"]


def test_another_seed_fails_ml_optimize(tmp_path: Path, replay: Replay) -> None:
    pytest.importorskip("sklearn")
    project = example(tmp_path, "ml-optimize")
    seed = "sed -i 's/LogisticRegression()/LogisticRegression(random_state=4)/' train.py"
    code, record = replay(project, ("bash_exec", {"command": seed}))
    assert (code, record["status"]) == (1, "failed")


def test_a_figure_that_is_written_down_is_tampering(tmp_path: Path, replay: Replay) -> None:
    project = example(tmp_path, "ml-optimize")
    settings = (project / ".retrai.yml").read_text(encoding="utf-8")
    without = [line for line in settings.splitlines() if not line.startswith("test_data")]
    (project / ".retrai.yml").write_text("\n".join(without) + "\n", encoding="utf-8")
    (project / "train.py").write_text("print('accuracy=0.5')\n", encoding="utf-8")
    claim = "print('accuracy=' + str(97 / 100))\n"
    code, record = replay(project, ("file_write", {"path": "train.py", "content": claim}))
    assert (code, record["status"]) == (4, "tampered"), record["reason"]
    assert "proves nothing" in record["reason"]
