"""A project whose goal is a few texts, and runs in it driven by a scripted model."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from retrai_core.events import AgentEvent
from retrai_core.run_config import RunConfig
from retrai_core.runs.record import RunRecord
from retrai_core.storage.event_log import read_events
from retrai_core.storage.files import FilesStore

from ..running import Answering, resumed, stop_at, work

SITE = Path(__file__).parent / "site"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which one of two files is wrong."""
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.delenv("RETRAI_PLUGINS", raising=False)
    folder = tmp_path / "project"
    (folder / "checks").mkdir(parents=True)
    (folder / "expected.txt").write_text("a.txt: right\nb.txt: fine\n")
    (folder / "a.txt").write_text("wrong\n")
    (folder / "b.txt").write_text("fine\n")
    (folder / "checks" / "check.txt").write_text("the check\n")
    return folder


class Runs:
    """Runs in one project, and what they left."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project = project
        self.store = FilesStore(state=state)

    def config(self, turns: Sequence[dict[str, Any]], **settings: Any) -> RunConfig:
        plugins = {"turns": {"turns": list(turns)}, **settings.pop("plugins", {})}
        plain = {
            "python": sys.executable,
            "max_iterations": 6,
            "memory": "none",
            "sandbox": "local",
        }
        settings = plain | settings
        return RunConfig(cwd=self.project, model="turns", plugins=plugins, **settings)

    async def run(
        self, turns: Sequence[dict[str, Any]], ask: Answering | None = None, **settings: Any
    ) -> RunRecord:
        return await work(self.store, self.config(turns, **settings), ask)

    async def resume(self, run_id: str, **limits: Any) -> RunRecord:
        return await resumed(self.store, run_id, **limits)

    async def stopped_at(
        self, tool: str, turns: Sequence[dict[str, Any]], **settings: Any
    ) -> RunRecord:
        """A run that is stopped as soon as it calls this tool."""
        return await stop_at(self.store, self.config(turns, **settings), tool)

    def events(self, record: RunRecord, kind: str | None = None) -> list[AgentEvent]:
        every = read_events(self.store.folder(record.id) / "events.jsonl")
        return [event for event in every if kind in (None, event.kind)]

    def tool_results(self, record: RunRecord) -> list[str]:
        """What the model was given as the result of each call, in order."""
        journal = (self.store.folder(record.id) / "journal.jsonl").read_text().splitlines()
        return [entry["end"]["content"] for entry in map(json.loads, journal) if "end" in entry]

    def checks(self, record: RunRecord) -> list[str]:
        """The folders in which the goal was really checked."""
        return (self.store.folder(record.id) / "checks").read_text().splitlines()

    def seen(self, record: RunRecord) -> list[list[str]]:
        """What the model was sent, call by call."""
        path = self.store.folder(record.id) / "seen.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def runs(project: Path, tmp_path: Path) -> Runs:
    """Runs whose records stand in the test's own state folder."""
    return Runs(project, tmp_path / "state")
