"""As root in another user's project: the memory belongs to that user, whose runs must write it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import RunOutcome
from retrai_memory_file.store import FileMemory

pytestmark = pytest.mark.skipif(
    os.getuid() != 0, reason="needs root, who may make another user's files"
)
NewStore = Callable[..., FileMemory]


async def learn(new_store: NewStore, project: Path) -> None:
    await new_store().learn(
        RunOutcome("pytest", project, "achieved", "tests fail", ["a.py"], ["bash_exec"])
    )


def owner(path: Path) -> tuple[int, int]:
    return path.stat().st_uid, path.stat().st_gid


async def test_the_folder_and_the_file_are_the_owner_s(new_store: NewStore, project: Path) -> None:
    os.chown(project, 1234, 2345)
    for _ in range(2):  # a new file, and one that is replaced
        await learn(new_store, project)
        assert owner(project / ".retrai") == (1234, 2345)
        assert owner(project / ".retrai" / "memory.json") == (1234, 2345)


async def test_a_folder_that_is_there_keeps_its_owner(new_store: NewStore, project: Path) -> None:
    os.chown(project, 1234, 2345)
    (project / ".retrai").mkdir()
    os.chown(project / ".retrai", 3456, 3456)
    await learn(new_store, project)
    assert owner(project / ".retrai") == (3456, 3456)
    assert owner(project / ".retrai" / "memory.json") == (3456, 3456)
