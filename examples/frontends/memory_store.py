"""A store that keeps runs in memory, with a lease: a worker that was silent for too long can write
nothing any more.

A store in a database has this shape: `Kept` is its tables, `_held` the condition of each write.
"""

import asyncio
import sqlite3
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import (
    AgentEvent,
    Checkpoints,
    Claim,
    ClaimLostError,
    RunRecord,
    RunStore,
    StoreOptions,
    UsageError,
)


def empty_database():
    """For checkpoints, which are read in other threads."""
    return sqlite3.connect(":memory:", check_same_thread=False)


@dataclass
class Kept:
    """What is kept of one run."""

    record: RunRecord
    claim: Claim = field(default_factory=lambda: Claim("", "nobody", 0))
    lease_s: float = 0.0
    until: float = 0.0
    logs: defaultdict = field(default_factory=lambda: defaultdict(list))
    blobs: dict = field(default_factory=dict)
    checkpoints: sqlite3.Connection = field(default_factory=empty_database)


class InMemory(RunStore):
    name = "in-memory"
    summary = "forgets every run when the process ends"

    def __init__(self, options=None, runs=None):
        super().__init__(options or StoreOptions())
        self.runs = {} if runs is None else runs  # several stores may share them
        self.claims = []

    def _kept(self, run_id):
        if run_id not in self.runs:
            raise self.not_found(run_id)
        return self.runs[run_id]

    def _held(self, claim):
        """The run, as long as this claim is its last and the lease has not passed."""
        kept = self.runs.get(claim.run_id)
        if kept is None or kept.claim != claim or time.monotonic() >= kept.until:
            raise ClaimLostError(f"{claim.worker} does not hold run {claim.run_id} any more")
        return kept

    async def create(self, record):
        if record.id in self.runs:
            raise UsageError(f"there is a run {record.id} already")
        self.runs[record.id] = Kept(record.model_copy(deep=True))

    async def load(self, run_id):
        return self.runs[self.find_id(run_id, self.runs)].record.model_copy(deep=True)

    async def list(self, **filters):
        records = [kept.record.model_copy(deep=True) for kept in self.runs.values()]
        return self.select(records, **filters)

    async def delete(self, run_id):
        if time.monotonic() < self._kept(run_id).until:
            raise UsageError(f"somebody works on run {run_id}")
        self.runs.pop(run_id).checkpoints.close()

    async def claim(self, run_id, worker, lease_s=60.0):
        kept = self._kept(run_id)
        if time.monotonic() < kept.until:
            return None
        kept.claim, kept.lease_s = Claim(run_id, worker, kept.claim.number + 1), lease_s
        kept.until = time.monotonic() + lease_s
        self.claims.append(kept.claim)
        return kept.claim

    async def heartbeat(self, claim):
        kept = self._held(claim)
        kept.until = time.monotonic() + kept.lease_s

    async def release(self, claim):
        kept = self.runs.get(claim.run_id)
        if kept is not None and kept.claim == claim:
            kept.until = 0.0

    async def save(self, claim, record):
        self._held(claim).record = record.model_copy(deep=True)

    async def append(self, claim, log, lines):
        self._held(claim).logs[log] += lines

    async def lines(self, run_id, log, after=0):
        return self._kept(run_id).logs[log][after:]

    async def send(self, run_id, command):
        logs = self._kept(run_id).logs
        line = self.command_line(command, logs["questions"], logs["mailbox"])
        if line is not None:
            logs["mailbox"].append(line)
        return line is not None

    @asynccontextmanager
    async def checkpointer(self, claim):
        yield Checkpoints(self._held(claim).checkpoints, lambda: self._held(claim))

    async def put_blob(self, claim, name, data):
        self.check_blob_name(name)
        self._held(claim).blobs[name] = data

    async def get_blob(self, run_id, name):
        return self._kept(run_id).blobs.get(name)

    async def aclose(self):
        for claim in self.claims:
            await self.release(claim)


async def main():
    """Two workers and one run: the first falls silent, the second goes on."""
    runs = {}
    first, second = InMemory(runs=runs), InMemory(runs=runs)
    await first.create(RunRecord(id="run1", model="offline", project=Path.cwd()))
    stale = await first.claim("run1", "the first worker", lease_s=0.1)
    await first.append_events(stale, [AgentEvent("log", "run1", 0, {}, seq=1)])
    while (claim := await second.claim("run1", "the second worker")) is None:
        print("the second worker waits for the lease to end")
        await asyncio.sleep(0.1)
    print("the second worker has the run")
    try:
        await first.append_events(stale, [AgentEvent("log", "run1", 0, {}, seq=2)])
    except ClaimLostError as error:
        print(f"refused: {error}")
    last = await second.append_events(claim, [AgentEvent("log", "run1", 0, {}, seq=2)])
    print(f"the run has {last} events")


if __name__ == "__main__":
    asyncio.run(main())
