"""What another process does with a store, for its conformance tests: holds runs, writes, sends.

Each task prints a line for each thing that is done; the tests wait for those, or kill it.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from collections.abc import Mapping
from typing import Any

from retrai_core import AgentEvent, Configure, RunStore

BIG = 50_000
"""Characters of a payload that takes a while to write."""
LEASE_S = 5.0
"""How long a store with leases waits for a process that was killed."""


def main(store: RunStore) -> None:
    """Do what the command line says: a task, a run's id, and perhaps one word more."""
    task, run_id, *more = sys.argv[1:]
    asyncio.run(_TASKS[task](store, run_id, *more))


def event(run_id: str, number: int) -> AgentEvent:
    """An event that shows whether it is whole."""
    payload = {"level": "info", "message": f"{number} " + "x" * (BIG if number % 3 else 10)}
    return AgentEvent("log", run_id, 0, payload, ts=float(number), seq=number)


def checkpoint(number: int, name: str | None = None) -> dict[str, Any]:
    """A checkpoint that holds a number.

    Args:
        number: what it holds.
        name: its id, which LangGraph makes of the time.
    """
    return {
        "v": 4,
        "id": name or f"{number:032x}",
        "ts": f"2026-01-01T00:00:00.{number:06}+00:00",
        "channel_values": {"number": number},
        "channel_versions": {"number": number + 1},
        "versions_seen": {},
        "updated_channels": ["number"],
    }


def at(run_id: str, name: str | None = None) -> Any:
    """LangGraph's configuration for a run, at one checkpoint or at none."""
    place = {"thread_id": run_id, "checkpoint_ns": ""}
    return {"configurable": place if name is None else {**place, "checkpoint_id": name}}


async def _hold(store: RunStore, run_id: str, lease_s: str = "60") -> None:
    claim = await store.claim(run_id, "another process", float(lease_s))
    if claim is None:
        _tell("refused")
        return
    record = (await store.load(run_id)).model_copy(update={"status": "running"})
    await store.save(claim, record)
    _tell("claimed")
    for line in iter(sys.stdin.readline, ""):
        await store.save(claim, record.model_copy(update={"reason": line}))
        _tell(f"saved {line.strip()}")
    await store.release(claim)
    _tell("released")


async def _append(store: RunStore, run_id: str, max_bytes: str = "0") -> None:
    """Append for ever; the system kills us in the middle of what makes a file longer than that."""
    claim = await store.claim(run_id, "another process", LEASE_S)
    assert claim is not None
    last = await store.append_events(claim, [])
    if max_bytes != "0":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(max_bytes), resource.RLIM_INFINITY))
    while True:
        await store.heartbeat(claim)
        events = [event(run_id, last + 1 + index) for index in range(1 + last % 4)]
        last = await store.append_events(claim, events)
        _tell(str(last))


async def _checkpoint(store: RunStore, run_id: str) -> None:
    claim = await store.claim(run_id, "another process", LEASE_S)
    assert claim is not None
    last = await store.append_events(claim, [])
    async with store.checkpointer(claim) as saver:
        while True:
            await store.heartbeat(claim)
            last = await store.append_events(claim, [event(run_id, last + 1)])
            metadata: Any = {"source": "loop", "step": last}
            kept: Any = checkpoint(last)
            await saver.aput(at(run_id), kept, metadata, kept["channel_versions"])
            _tell(str(last))


async def _send(store: RunStore, run_id: str, label: str) -> None:
    for number in range(20):
        assert await store.send(run_id, Configure(settings={"sender": label, "number": number}))
    _tell("sent")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


_TASKS: Mapping[str, Any] = {
    "hold": _hold,
    "append": _append,
    "checkpoint": _checkpoint,
    "send": _send,
}
