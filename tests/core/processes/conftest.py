"""A runner in an empty project, and ways to watch processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from retrai_core import ProcessOptions, ProcessRunner, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace


@pytest.fixture
async def make_runner(tmp_path: Path) -> AsyncIterator[Callable[..., ProcessRunner]]:
    made: list[ProcessRunner] = []

    def make(python: str = sys.executable, **options: object) -> ProcessRunner:
        context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), python, tmp_path)
        made.append(ProcessRunner(context, ProcessOptions.model_validate(options)))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.fixture
def runner(make_runner: Callable[..., ProcessRunner]) -> ProcessRunner:
    return make_runner(grace_s=0.2)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # another process's doing: nothing here can be told
            await asyncio.sleep(0.01)


class Processes:
    """Watches processes that write their ids into files of the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def written(self, name: str) -> int:
        """The id in the file `name`, once it is there."""
        path = self.folder / name
        await _until(lambda: path.exists() and path.read_text().endswith("\n"))
        return int(path.read_text())

    @staticmethod
    def is_alive(pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    async def end(self, pid: int) -> None:
        """Wait until a process has ended."""
        await _until(lambda: not self.is_alive(pid))


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)
