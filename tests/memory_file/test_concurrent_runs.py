"""Runs that end side by side lose nothing; a kill leaves the file whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from retrai_core import RunOutcome
from retrai_memory_file.store import FileMemory

PROCESSES = 6
RUNS_EACH = 15

LEARN = """
import asyncio, sys
from pathlib import Path
from retrai_core import RunOutcome
from retrai_memory_file.store import FileMemory, FileMemoryOptions

project, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()

async def main():
    for number in range(count):
        for file in (f"{who}-{number}.py", "shared.py"):
            outcome = RunOutcome("pytest", project, "achieved", "tests fail", [file], ["bash_exec"])
            await FileMemory(FileMemoryOptions(), None).learn(outcome)
            print(file, flush=True)

asyncio.run(main())
"""


def start_learner(project: Path, who: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", LEARN, str(project), who, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_many_processes_lose_no_entry(project: Path) -> None:
    learners = [start_learner(project, f"p{number}", RUNS_EACH) for number in range(PROCESSES)]
    for learner in learners:
        assert learner.stdout is not None
        assert learner.stdout.readline() == "ready\n", learner.stderr
    for learner in learners:
        assert learner.stdin is not None
        learner.stdin.write("go\n")
        learner.stdin.flush()
    for learner in learners:
        _, errors = learner.communicate(timeout=60)
        assert (learner.returncode, errors) == (0, "")
    folder = project / ".retrai"
    entries = json.loads((folder / "memory.json").read_text(encoding="utf-8"))["strategies"]
    counts = sorted(entry["success_count"] for entry in entries)
    assert counts == [1] * PROCESSES * RUNS_EACH + [PROCESSES * RUNS_EACH]
    assert [path.name for path in folder.iterdir()] == ["memory.json"]


async def test_a_kill_leaves_a_whole_file_and_no_lock(
    project: Path, new_store: Callable[..., FileMemory]
) -> None:
    learner = start_learner(project, "killed", 100_000)
    assert learner.stdin is not None
    assert learner.stdout is not None
    assert learner.stdout.readline() == "ready\n"
    learner.stdin.write("go\n")
    learner.stdin.flush()
    done = [learner.stdout.readline() for _ in range(40)]
    learner.kill()
    learner.wait(timeout=20)
    learner.communicate()
    assert all(done)
    outcome = RunOutcome("pytest", project, "achieved", "tests fail", ["after.py"])
    await new_store().learn(outcome)
    stored = json.loads((project / ".retrai" / "memory.json").read_text(encoding="utf-8"))
    patterns = [entry["pattern"] for entry in stored["strategies"]]
    assert sum("killed-" in pattern for pattern in patterns) >= 20
    assert "after.py" in patterns[-1]
    assert sorted(path.name for path in (project / ".retrai").iterdir()) == ["memory.json"]
