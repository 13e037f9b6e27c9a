"""A run that another process resumes goes on where it stood, under its own id."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from retrai_core import FilesStore, RunConfig
from retrai_core.storage.event_log import read_events

from ..running import work

SITE = Path(__file__).parents[1] / "goal_loop" / "site"

RESUMING = """
import asyncio, sys
from pathlib import Path
from retrai_core import FilesStore, RunManager

async def resume():
    async with RunManager(FilesStore(state=Path(sys.argv[1])), "inline") as manager:
        run = await manager.get(sys.argv[2])
        await run.resume(max_iterations=5)
        await run.result()

asyncio.run(resume())
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
    store = FilesStore(state=tmp_path / "state")
    config = RunConfig(
        cwd=project,
        model="turns",
        max_iterations=3,
        memory="none",
        python=sys.executable,
        plugins={"turns": {"turns": turns}},
    )
    ended = await work(store, config)
    assert (ended.status, ended.iterations) == ("failed", 3)

    command = [sys.executable, "-c", RESUMING, str(store.state), ended.id]
    env = os.environ | {"PYTHONPATH": str(SITE)}
    resuming = await asyncio.create_subprocess_exec(*command, env=env)
    assert await resuming.wait() == 0

    resumed = await store.load(ended.id)
    assert (resumed.status, resumed.iterations) == ("failed", 5)
    folder = store.folder(ended.id)
    assert (folder / "put").read_text().splitlines() == ["a.txt"] * 5, "one a turn, none repeated"
    assert (project / "a.txt").read_text() == "4"
    last_seen = json.loads((folder / "seen.jsonl").read_text().splitlines()[-1])
    assert [text for text in last_seen if text.startswith("turn ")] == [
        f"turn {i}" for i in range(4)
    ], "the model still sees what it did before"
    assert {event.run_id for event in read_events(folder / "events.jsonl")} == {ended.id}
