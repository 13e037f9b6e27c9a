"""A run that another process resumes goes on where it stood, under its own id."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from retrai_core.run_config import RunConfig
from retrai_core.run_manager import RunManager
from retrai_core.runs.log import read_events
from retrai_core.runs.store import RunStore

SITE = Path(__file__).parents[1] / "loop" / "site"

RESUMING = """
import asyncio, sys
from pathlib import Path
from retrai_core.run_manager import RunManager
from retrai_core.runs.store import RunStore

manager = RunManager(RunStore(Path(sys.argv[1])))
asyncio.run(manager.resume(sys.argv[2], max_iterations=5))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose one file is wrong, where the scripted plugins are installed."""
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.delenv("RETRAI_PLUGINS", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "expected.txt").write_text("a.txt: right\n")
    (folder / "a.txt").write_text("wrong\n")
    return folder


async def test_another_process_goes_on_at_the_next_iteration(project: Path, tmp_path: Path) -> None:
    turns = [
        {"text": f"turn {i}", "calls": [{"name": "put", "args": {"path": "a.txt", "text": str(i)}}]}
        for i in range(10)
    ]
    store = RunStore(tmp_path / "state")
    manager = RunManager(store)
    config = RunConfig(
        cwd=project,
        model="turns",
        max_iterations=3,
        memory="none",
        python=sys.executable,
        plugins={"turns": {"turns": turns}},
    )
    record = await manager.create(config)
    ended = await manager.start(record.id)
    assert (ended.status, ended.iterations) == ("failed", 3)

    command = [sys.executable, "-c", RESUMING, str(store.state), record.id]
    env = os.environ | {"PYTHONPATH": str(SITE)}
    resuming = await asyncio.create_subprocess_exec(*command, env=env)
    assert await resuming.wait() == 0

    resumed = store.load(record.id)
    assert (resumed.status, resumed.iterations) == ("failed", 5)
    folder = store.folder(record.id)
    assert (folder / "put").read_text().splitlines() == ["a.txt"] * 5, "one a turn, none repeated"
    assert (project / "a.txt").read_text() == "4"
    last_seen = json.loads((folder / "seen.jsonl").read_text().splitlines()[-1])
    assert [text for text in last_seen if text.startswith("turn ")] == [
        f"turn {i}" for i in range(4)
    ], "the model still sees what it did before"
    assert {event.run_id for event in read_events(folder / "events.jsonl")} == {record.id}
