"""Ends a command that takes more of the machine than it may, where no limit of the kernel does.

There is none on the disk, and none on processes and memory together where no control group can be
made; so the machine is looked at ten times a second, which costs three small reads, and the
command's processes are counted only when something has grown (and once a second). That is too
slow for a fork bomb, which a control group or the limits in `processes` must stop.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

EVERY_S = 0.1
COUNT_EVERY_S = 1.0
_SPARE_DISK_BYTES = 2**30
_SPARE_MEMORY_BYTES = 256 * 2**20
_NOISE_BYTES = 128 * 2**20
"""Other programs use disk and memory too; less than this is nobody's fault."""
_SPARE_FILES = 0.02
_NOISE_FILES = 50_000
"""A disk can be full of empty files: the share of its files that is left, and what is noise."""


@dataclass(frozen=True)
class Bounds:
    """What one command may take, over all its processes."""

    processes: int
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Level:
    """What the machine has at one moment."""

    tasks: int
    memory_bytes: int
    disk_bytes: tuple[int, ...]
    disk_files: tuple[tuple[int, int], ...] = ()
    """For each disk: how many more files it can hold, and how many in all (0: as many as fit)."""


def machine_memory_bytes() -> int:
    """The machine's memory."""
    return psutil.virtual_memory().total


class Watch:
    """Watches one command, which is found by its arguments among this process's descendants.

    Args:
        argv: the arguments of bubblewrap for the command, as they stand in /proc.
        bounds: what the command may take.
        folders: where it can write; the free space there is watched.

    Attributes:
        verdict: why it was ended; empty while it was not.
    """

    def __init__(self, argv: Sequence[str], bounds: Bounds, folders: Sequence[Path]) -> None:
        self._argv = list(argv)
        self._bounds = bounds
        self._folders = folders
        self.verdict = ""

    async def look(self) -> None:
        """Look until the command has been ended for what it took; cancel it when it has ended."""
        start = self._level()
        counted = time.monotonic()
        while True:
            await asyncio.sleep(EVERY_S)
            now = self._level()
            due = time.monotonic() - counted >= COUNT_EVERY_S
            if not self.verdict:
                self.verdict = (
                    self._disk(start, now)
                    or files_gone(start, now)
                    or self._memory_gone(start, now)
                )
            if not self.verdict and (due or self._grew(start, now)):
                counted = time.monotonic()
                self.verdict = self._count()
            if self.verdict:
                self._end()

    def _level(self) -> Level:
        free: list[int] = []
        files: list[tuple[int, int]] = []
        for folder in self._folders:
            with suppress(OSError):
                found = os.statvfs(folder)
                free.append(found.f_bavail * found.f_frsize)
                files.append((found.f_favail, found.f_files))
        memory = psutil.virtual_memory().available
        return Level(_tasks(), memory, tuple(free), tuple(files))

    def _grew(self, start: Level, now: Level) -> bool:
        return (
            now.tasks - start.tasks > self._bounds.processes
            or start.memory_bytes - now.memory_bytes > self._bounds.memory_bytes
        )

    def _disk(self, start: Level, now: Level) -> str:
        for before, after in zip(start.disk_bytes, now.disk_bytes, strict=False):
            taken = before - after
            scarce = after < _SPARE_DISK_BYTES and taken > _NOISE_BYTES
            if taken > self._bounds.disk_bytes or scarce:
                return f"the disk's free space shrank by {_size(taken)} (disk_bytes)"
        return ""

    def _memory_gone(self, start: Level, now: Level) -> str:
        taken = start.memory_bytes - now.memory_bytes
        if now.memory_bytes < _SPARE_MEMORY_BYTES and taken > machine_memory_bytes() // 4:
            return f"the machine's free memory shrank to {_size(now.memory_bytes)}"
        return ""

    def _count(self) -> str:
        for main in self._mains():
            tasks = memory = 0
            with suppress(psutil.Error):  # it has just ended
                for process in main.children(recursive=True):
                    with suppress(psutil.Error):
                        tasks += process.num_threads()
                        memory += process.memory_info().rss
            if tasks > self._bounds.processes:
                return f"it had {tasks} processes and threads at once (processes)"
            if memory > self._bounds.memory_bytes:
                return f"it used {_size(memory)} of memory (total_memory_bytes)"
        return ""

    def _mains(self) -> Iterator[psutil.Process]:
        """The processes of bubblewrap; of two equal commands side by side, those of both."""
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if process.cmdline() == self._argv:
                    yield process

    def _end(self) -> None:
        """The namespace's first process dies with them, and takes all others along."""
        for process in self._mains():
            with suppress(psutil.Error):
                process.kill()


def files_gone(start: Level, now: Level) -> str:
    """Why a command must end that has made so many files that the disk can hold few more."""
    for (before, _), (after, total) in zip(start.disk_files, now.disk_files, strict=False):
        if before - after > _NOISE_FILES and after < _SPARE_FILES * total:
            return f"the disk can hold no more than {after} further files ({before - after} fewer)"
    return ""


def _tasks() -> int:
    """How many processes and threads the machine has, from /proc/loadavg (proc(5))."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
