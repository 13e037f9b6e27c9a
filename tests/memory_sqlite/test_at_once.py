"""Runs that end side by side lose nothing, wherever they ran."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

PROCESSES = 8
RUNS_EACH = 12

LEARN = """
import asyncio, sys
from pathlib import Path
from retrai_core import RunOutcome
from retrai_memory_sqlite.store import SqliteMemory, SqliteMemoryOptions

path, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()

async def main():
    for number in range(count):
        for file in (f"{who}-{number}.py", "shared.py"):
            outcome = RunOutcome("pytest", Path("/shop"), "achieved", "tests fail", [file])
            store = SqliteMemory(SqliteMemoryOptions(path=path), None)
            await store.recall("pytest", Path("/shop"))
            await store.learn(outcome)

asyncio.run(main())
"""


@pytest.mark.parametrize("broken", [False, True])
def test_eight_processes_lose_no_entry(tmp_path: Path, broken: bool) -> None:
    path = tmp_path / "memory.sqlite3"
    if broken:
        path.write_bytes(b"no database" * 1000)
    learners = [
        subprocess.Popen(
            [sys.executable, "-c", LEARN, str(path), f"p{number}", str(RUNS_EACH)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for learner in learners:
        assert learner.stdout is not None
        assert learner.stdout.readline() == "ready\n"
    for learner in learners:
        assert learner.stdin is not None
        learner.stdin.write("go\n")
        learner.stdin.flush()
    for learner in learners:
        _, errors = learner.communicate(timeout=120)
        assert (learner.returncode, errors) == (0, "")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT success_count FROM entry ORDER BY 1").fetchall()
        connection.execute("INSERT INTO entry_text (entry_text) VALUES ('integrity-check')")
    assert [count for (count,) in rows] == [1] * PROCESSES * RUNS_EACH + [PROCESSES * RUNS_EACH]
    assert len(list(tmp_path.glob("memory.sqlite3.corrupt-*"))) == broken
