"""Who waits for a change is woken: at once within a process, by looking for it between processes.

A wake-up is only a hint to look again, so what this module remembers changes no run.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal
from weakref import WeakSet

Holder = Literal["alive", "dead", "none"]
"""Of a run's holder: it works, it was killed, or there is none."""

_RUN_POLL_S = 0.1
_ALL_POLL_S = 0.3
_MAX_BYTES = 1_000_000


class Listener:
    """Somebody who waits for changes below a folder, in the event loop that runs now.

    Args:
        folder: the folder of all runs.
        run_id: the run; None for the records of all.
    """

    def __init__(self, folder: Path, run_id: str | None) -> None:
        self.folder = folder.absolute()
        self.run_id = run_id
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        with _lock:
            _listeners.add(self)

    async def wait(self, timeout_s: float) -> bool:
        """Until somebody wakes us, or so long; whether somebody did."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        is_woken = self._woken.is_set()
        self._woken.clear()
        return is_woken

    def wake(self) -> None:
        """End `wait`; from any thread."""
        with suppress(RuntimeError):  # that loop has ended
            self._loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """Nobody waits any more."""
        with _lock:
            _listeners.discard(self)


_listeners: WeakSet[Listener] = WeakSet()
_lock = threading.Lock()


def wake(folder: Path, run_id: str, *, record: bool = False) -> None:
    """Wake who waits for this run in this process; for its record, also who waits for all."""
    here = folder.absolute()
    with _lock:
        woken = [one for one in _listeners if one.folder == here]
    for one in woken:
        if one.run_id == run_id or (one.run_id is None and record):
            one.wake()


async def changes_of_run(
    listener: Listener, run_id: str, signature: Callable[[], object]
) -> AsyncGenerator[str]:
    """The run's id now, and whenever its signature is another."""
    try:
        seen = signature()
        yield run_id
        while True:
            if await listener.wait(_RUN_POLL_S):  # of this process: nothing has to be looked at
                yield run_id
            elif (now := signature()) != seen:
                seen = now
                yield run_id
    finally:
        listener.close()


async def changes_of_all(
    listener: Listener,
    feed: ChangeReader,
    runs: Callable[[], Iterable[str]],
    holder: Callable[[str], Holder],
) -> AsyncGenerator[str]:
    """The ids of runs whose record has changed, or whose holder is dead.

    Args:
        listener: what wakes us.
        feed: gives the ids of changed records.
        runs: gives the ids of all runs.
        holder: what has become of a run's holder.
    """

    def all_holders() -> Mapping[str, Holder]:
        return {run_id: holder(run_id) for run_id in runs()}

    try:
        found = await asyncio.to_thread(all_holders)
        watched = {run_id for run_id, state in found.items() if state == "alive"}
        # Also those who died just before we looked.
        changed = [run_id for run_id, state in found.items() if state == "dead"]
        while True:
            changed += feed.read()
            if feed.began_anew:  # perhaps more than once since we looked
                changed += await asyncio.to_thread(runs)
            gone = {run_id for run_id in watched if holder(run_id) != "alive"}
            watched = (watched - gone) | {each for each in changed if holder(each) == "alive"}
            for run_id in dict.fromkeys([*changed, *gone]):
                yield run_id
            changed = []
            await listener.wait(_ALL_POLL_S)
    finally:
        listener.close()
        feed.close()


class ChangeReader:
    """The lines that are appended to `runs.changed` from now on.

    Args:
        path: the file.

    Attributes:
        began_anew: when it was read last, another file had taken its place.
    """

    def __init__(self, path: Path) -> None:
        self.began_anew = False
        self._path = path
        self._rest = b""
        self._file = _opened(path)
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)

    def read(self) -> list[str]:
        """What is new."""
        found = self._lines()
        new = _opened(self._path)
        if new is not None and self._file is not None:
            same = os.path.sameopenfile(new.fileno(), self._file.fileno())
        else:
            same = new is None
        self.began_anew = not same
        if same:
            if new is not None:
                new.close()
            return found
        found += self._lines()  # somebody may have written to the old one until just now
        self.close()
        self._file = new
        return found + self._lines()

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self) -> list[str]:
        if self._file is None:
            return []
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines if line]


def note_change(path: Path, run_id: str) -> None:
    """Append a run's id to `runs.changed`, which begins anew when it is long.

    Nobody is stopped by a file that cannot be written: other processes hear of it later.
    """
    with suppress(OSError):
        while not _noted(path, f"{run_id}\n".encode()):
            pass


def _noted(path: Path, line: bytes) -> bool:
    """Append the line; False where another file has taken the place of the one it is in."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, line)
        ours = os.fstat(handle)
        if not os.path.samestat(ours, path.stat()):
            return False
        if ours.st_size > _MAX_BYTES:
            # One of those who see that it is long: a second new file would hide the first one.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(ours, path.stat()):
                return True
            fresh = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
            fresh.touch(mode=0o600)
            fresh.replace(path)
    finally:
        os.close(handle)
    return True


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except OSError:
        return None
