"""A file that cannot be used is a warning: it is never overwritten, and never ends a run."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrai_core import AgentEvent, RunOutcome
from retrai_memory_file.document import Document, Entry
from retrai_memory_file.memory_file import MemoryFile, MemoryUnavailableError
from retrai_memory_file.store import FileMemory

NewStore = Callable[..., FileMemory]


def achieved(project: Path) -> RunOutcome:
    return RunOutcome("pytest", project, "achieved", "tests fail", ["a.py"], ["bash_exec"])


def warnings(events: list[AgentEvent]) -> list[str]:
    return [event.payload["message"] for event in events if event.payload["level"] == "warning"]


@pytest.fixture
def memory_path(project: Path) -> Path:
    (project / ".retrai").mkdir()
    return project / ".retrai" / "memory.json"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1, "strategies": 3}',
        '{"version": 1, "strategies": [{"goal": "pytest"}]}',
        '{"version": 1, "strategies": [{"goal": "g", "pattern": "p", "success_count": -1}]}',
        "<<<<<<< HEAD",
    ],
)
async def test_a_corrupt_file_is_set_aside_with_a_warning(
    new_store: NewStore,
    project: Path,
    memory_path: Path,
    events: list[AgentEvent],
    text: str,
) -> None:
    memory_path.write_text(text, encoding="utf-8")
    assert list(await new_store().recall("pytest", project)) == []
    await new_store().learn(achieved(project))
    (aside,) = memory_path.parent.glob("memory.json.corrupt-*")
    assert aside.read_text(encoding="utf-8") == text
    assert len(json.loads(memory_path.read_text(encoding="utf-8"))["strategies"]) == 1
    (warning,) = warnings(events)
    assert str(memory_path) in warning
    assert aside.name in warning


async def test_an_earlier_file_that_was_set_aside_is_not_overwritten(
    new_store: NewStore, project: Path, memory_path: Path
) -> None:
    for text in ("first", "second", "third"):
        memory_path.write_text(text, encoding="utf-8")
        await new_store().recall("pytest", project)
    kept = {path.read_text(encoding="utf-8") for path in memory_path.parent.glob("*.corrupt-*")}
    assert kept == {"first", "second", "third"}


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=200))
def test_no_content_is_ever_lost(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    project = tmp_path_factory.mktemp("project")
    (project / ".retrai").mkdir()
    path = project / ".retrai" / "memory.json"
    path.write_bytes(data)
    memory = MemoryFile(project)
    memory.change(lambda document: document.add_success(Entry(goal="g", pattern="p")))
    assert len(Document.model_validate_json(path.read_bytes()).strategies) == 1
    (aside,) = path.parent.glob("*.corrupt-*")
    assert aside.read_bytes() == data


async def test_a_file_of_a_newer_version_is_left_alone(
    new_store: NewStore, project: Path, memory_path: Path, events: list[AgentEvent]
) -> None:
    text = '{"version": 2, "strategies": {"new": "form"}}'
    memory_path.write_text(text, encoding="utf-8")
    assert list(await new_store().recall("pytest", project)) == []
    await new_store().learn(achieved(project))
    assert memory_path.read_text(encoding="utf-8") == text
    assert [path.name for path in memory_path.parent.iterdir()] == ["memory.json"]
    assert len(warnings(events)) == 2


async def test_a_folder_in_the_files_place_is_set_aside_too(
    new_store: NewStore, project: Path, memory_path: Path, events: list[AgentEvent]
) -> None:
    memory_path.mkdir()
    await new_store().learn(achieved(project))
    assert memory_path.is_file()
    assert "not a regular file" in warnings(events)[0]


async def test_a_named_pipe_does_not_hold_the_run(
    new_store: NewStore, project: Path, memory_path: Path, events: list[AgentEvent]
) -> None:
    os.mkfifo(memory_path)
    assert list(await new_store().recall("pytest", project)) == []
    assert "not a regular file" in warnings(events)[0]


@pytest.mark.parametrize("link", [".retrai", ".retrai/memory.json"])
async def test_a_symlink_leads_no_run_outside_the_project(
    new_store: NewStore, project: Path, tmp_path: Path, events: list[AgentEvent], link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "memory.json"
    target.write_text('{"version": 1, "strategies": []}', encoding="utf-8")
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside if link == ".retrai" else target)
    await new_store().learn(achieved(project))
    assert target.read_text(encoding="utf-8") == '{"version": 1, "strategies": []}'
    assert [path.name for path in outside.iterdir()] == ["memory.json"]
    assert len(warnings(events)) == 1


async def test_a_file_in_the_folders_place_is_a_warning(
    new_store: NewStore, project: Path, events: list[AgentEvent]
) -> None:
    (project / ".retrai").write_text("mine", encoding="utf-8")
    assert list(await new_store().recall("pytest", project)) == []
    await new_store().learn(achieved(project))
    assert (project / ".retrai").read_text(encoding="utf-8") == "mine"
    assert len(warnings(events)) == 2


RECALL_AND_LEARN = """
import asyncio, os, sys
from pathlib import Path
from retrai_core import RunContext, RunOutcome
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_memory_file.store import FileMemory, FileMemoryOptions

project = Path(sys.argv[1])

def hear(event):
    print(event.payload["message"])

async def main():
    context = RunContext("r", project, SafeWorkspace(project), "", project, on_event=hear)
    store = FileMemory(FileMemoryOptions(), context)
    print(len(await store.recall("pytest", project)))
    await store.learn(RunOutcome("pytest", project, "achieved", "tests fail", ["b.py"], []))

asyncio.run(main())
"""


def heed_modes() -> None:
    """Let file modes bind this process as they bind any user, also when it is root's."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        # PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; linux/prctl.h
        assert libc.prctl(24, 1, 0, 0, 0) == 0
        assert libc.prctl(24, 2, 0, 0, 0) == 0


@pytest.mark.skipif(
    os.geteuid() == 0 and sys.platform != "linux", reason="only Linux binds root by file modes"
)
@pytest.mark.parametrize("there_before", [True, False])
def test_a_read_only_project_is_a_warning(project: Path, there_before: bool) -> None:
    folders = [project]
    if there_before:
        known = Entry(goal="pytest", pattern="p")
        MemoryFile(project).change(lambda document: document.add_success(known))
        folders.append(project / ".retrai")
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", RECALL_AND_LEARN, str(project)],
            preexec_fn=heed_modes,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    told, *heard = done.stdout.splitlines()
    assert told == str(int(there_before))
    assert ["Permission denied" in line for line in heard] == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
async def test_a_project_that_takes_no_files_is_a_warning(
    new_store: NewStore, events: list[AgentEvent]
) -> None:
    # Nobody can make a file there, not even root.
    project = Path("/proc/self")
    assert list(await new_store().recall("pytest", project)) == []
    await new_store().learn(achieved(project))
    assert len(warnings(events)) == 1


def test_a_lock_that_never_comes_free_is_said(project: Path, memory_path: Path) -> None:
    holder = os.open(memory_path.parent, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        memory = MemoryFile(project, lock_timeout_s=0.05)
        with pytest.raises(MemoryUnavailableError, match="held its lock"):
            memory.change(lambda document: None)
    finally:
        os.close(holder)
    assert not memory_path.exists()
