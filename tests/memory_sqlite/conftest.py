"""The store of a run in a project, with a file of its own, and what the run heard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import AgentEvent, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace

pytest.importorskip("retrai_memory_sqlite")

from retrai_memory_sqlite.store import SqliteMemory, SqliteMemoryOptions


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder."""
    folder = tmp_path / "state"
    monkeypatch.setenv("RETRAI_STATE_DIR", str(folder))
    return folder


@pytest.fixture
def events() -> list[AgentEvent]:
    """What the stores published."""
    return []


@pytest.fixture
def new_store(tmp_path: Path, state: Path, events: list[AgentEvent]) -> Callable[..., SqliteMemory]:
    """A store of a new run whose first check found `failure`; one instance serves one run."""

    def make(project: str = "shop", failure: str = "", **options: int) -> SqliteMemory:
        folder = tmp_path / project
        folder.mkdir(exist_ok=True)
        context = RunContext(
            *("r1", folder, SafeWorkspace(folder), sys.executable, tmp_path / "run"),
            on_event=events.append,
            failure=failure,
        )
        return SqliteMemory(SqliteMemoryOptions(**options), context)

    return make
