"""Frontends read what earlier runs have taught through the session API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import FilesStore, RunManager, RunOutcome
from retrai_memory_file.store import FileMemory


async def test_the_manager_opens_the_project_s_memory(
    tmp_path: Path,
    project: Path,
    new_store: Callable[..., FileMemory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    await new_store().learn(RunOutcome("pytest", project, "achieved", "tests fail", ["a.py"]))
    store = FilesStore(state=tmp_path / "state")
    async with RunManager(store) as manager, manager.memory(project) as memory:
        assert [entry.goal for entry in await memory.entries(project)] == ["pytest"]
    await store.aclose()
