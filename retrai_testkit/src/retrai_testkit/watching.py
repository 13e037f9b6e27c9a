"""Notices what a plugin does past its context: processes, files of the project, connections."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from retrai_core import (
    CommandOptions,
    Completed,
    Entry,
    ProcessOptions,
    ProcessRunner,
    RunContext,
    Sandbox,
)
from retrai_core.workspace.safe_paths import SafeWorkspace

_STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.exec")
_within: ContextVar[bool] = ContextVar("within a part of the context", default=False)


@contextmanager
def unwatched() -> Generator[None]:
    """What happens in the block is not the plugin's doing."""
    token = _within.set(True)
    try:
        yield
    finally:
        _within.reset(token)


class WatchedWorkspace(SafeWorkspace):
    """A workspace that knows what was asked of it.

    Attributes:
        uses: how often it was used.
        written: the paths that were written, in order.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.uses = 0
        self.written: list[str] = []

    def read_bytes(self, path: str, max_bytes: int | None = None) -> bytes:
        self.uses += 1
        with unwatched():
            return super().read_bytes(path, max_bytes)

    def write_bytes(self, path: str, data: bytes) -> None:
        self.uses += 1
        with unwatched():
            super().write_bytes(path, data)
        self.written.append(path)

    def list_folder(self, path: str = ".") -> list[Entry]:
        self.uses += 1
        with unwatched():
            return super().list_folder(path)

    def walk(self, path: str = ".", *, ignored: bool = False) -> Iterator[Entry]:
        self.uses += 1
        entries = super().walk(path, ignored=ignored)
        while True:
            # Only while the workspace itself works, not while its caller looks at an entry.
            with unwatched():
                entry = next(entries, None)
            if entry is None:
                return
            yield entry

    def stat(self, path: str) -> Entry | None:
        self.uses += 1
        with unwatched():
            return super().stat(path)


class WatchedSandbox(Sandbox):
    """Starts processes with the user's rights, and counts the commands.

    Attributes:
        uses: how many commands were started.
    """

    name = "watched"

    def __init__(self, options: ProcessOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._processes = ProcessRunner(context, options)
        self.uses = 0

    async def run(
        self, command: Sequence[str] | str, **options: Unpack[CommandOptions]
    ) -> Completed:
        self.uses += 1
        with unwatched():
            return await self._processes.run(command, **options)

    async def aclose(self) -> None:
        await self._processes.aclose()


@dataclass
class Acts:
    """What was done past the context, each as a line for people."""

    project: Path
    processes: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])
    connections: list[str] = field(default_factory=list[str])

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        """Take over one audit event."""
        if event in _STARTS:
            self.processes.append(f"it starts a process itself: {args[0] if args else ''!r}")
        elif event == "open" and self._is_in_project(args[0]):
            self.files.append(f"it opens {args[0]} itself")
        elif event == "socket.connect" and isinstance(args[1], tuple):
            self.connections.append(f"it connects to {args[1]!r}")

    def _is_in_project(self, path: object) -> bool:
        if not isinstance(path, (str, bytes)):
            return False
        named = os.fsdecode(path)
        return os.path.isabs(named) and self.project in Path(os.path.realpath(named)).parents


@contextmanager
def acts_past_context(project: Path) -> Generator[Acts]:
    """Notice what is done in this process while the block runs, outside workspace and sandbox."""
    acts = Acts(Path(os.path.realpath(project)))
    _install()
    _listeners.append(acts.note)
    try:
        yield acts
    finally:
        _listeners.remove(acts.note)


_listeners: deque[Callable[[str, tuple[Any, ...]], None]] = deque()
_installed: list[bool] = []
# An audit hook stays until the process ends, so there is one, which listens only when asked to.


def _install() -> None:
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_hear)


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _listeners and (event in _STARTS or event in ("open", "socket.connect")):
        _tell(_listeners, event, args)


def _tell(
    listeners: Iterable[Callable[[str, tuple[Any, ...]], None]], event: str, args: tuple[Any, ...]
) -> None:
    if not _within.get():
        for listener in list(listeners):
            listener(event, args)
