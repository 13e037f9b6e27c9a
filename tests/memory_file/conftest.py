"""A project, the store of a run in it, and what the run heard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import AgentEvent, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_memory_file.store import FileMemory, FileMemoryOptions


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def events() -> list[AgentEvent]:
    """What the stores published."""
    return []


@pytest.fixture
def new_store(tmp_path: Path, project: Path, events: list[AgentEvent]) -> Callable[..., FileMemory]:
    """A store of a new run; one instance serves one run."""

    def make(**options: int) -> FileMemory:
        workspace = SafeWorkspace(project)
        context = RunContext(
            "r1", project, workspace, sys.executable, tmp_path / "run", on_event=events.append
        )
        return FileMemory(FileMemoryOptions(**options), context)

    return make
