"""Wakes waiters on a change: at once within a process, by polling between processes.

A wake-up is only a hint to look again, so the state of this module affects no run.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal
from weakref import WeakSet

Holder = Literal["alive", "dead", "none"]
"""Of a run's holder: it works, it was killed, or there is none."""

_RUN_POLL_S = 0.1
_ALL_POLL_S = 0.3
_GATHER_S = 0.02
"""Changes of a run that follow one another within this are one wake-up."""


class Listener:
    """A waiter for changes below a folder, in the running event loop.

    Args:
        folder: the folder of all runs.
        run_id: the run; None for the records of all.
    """

    def __init__(self, folder: Path, run_id: str | None) -> None:
        self.folder = folder.absolute()
        self.run_id = run_id
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
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
        if threading.get_ident() == self._thread:
            self._woken.set()
            return
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
            await asyncio.sleep(_GATHER_S)
            if await listener.wait(_RUN_POLL_S):  # of this process: nothing has to be looked at
                yield run_id
            elif (now := signature()) != seen:
                seen = now
                yield run_id
    finally:
        listener.close()


class Records:
    """The records of all runs, for callers that poll for changes.

    Args:
        marker: another one after every change of a record; cheap.
        signatures: what stands for each record, by the run's id.
    """

    def __init__(
        self, marker: Callable[[], object], signatures: Callable[[], Mapping[str, object]]
    ) -> None:
        self._marker = marker
        self._signatures = signatures
        self._marked = marker()
        self._seen = signatures()

    async def changed(self) -> list[str]:
        """The ids of runs whose record is new, another one or gone since the last time."""
        marked = self._marker()
        if marked == self._marked:
            return []
        before, now = self._seen, await asyncio.to_thread(self._signatures)
        self._marked, self._seen = marked, now
        return [each for each in before.keys() | now.keys() if before.get(each) != now.get(each)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)


async def changes_of_all(
    listener: Listener, records: Records, holder: Callable[[str], Holder]
) -> AsyncGenerator[str]:
    """The ids of runs whose record has changed, or whose holder is dead.

    Args:
        listener: what wakes us.
        records: tells which records have changed.
        holder: what has become of a run's holder.
    """

    def all_holders() -> Mapping[str, Holder]:
        return {run_id: holder(run_id) for run_id in records}

    try:
        found = await asyncio.to_thread(all_holders)
        watched = {run_id for run_id, state in found.items() if state == "alive"}
        # Also those who died just before we looked.
        changed = [run_id for run_id, state in found.items() if state == "dead"]
        while True:
            changed += await records.changed()
            gone = {run_id for run_id in watched if holder(run_id) != "alive"}
            watched = (watched - gone) | {each for each in changed if holder(each) == "alive"}
            for run_id in dict.fromkeys([*changed, *gone]):
                yield run_id
            changed = []
            await listener.wait(_ALL_POLL_S)
    finally:
        listener.close()
