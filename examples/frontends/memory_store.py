"""A store that keeps runs in memory, with a lease: a worker that was silent for too long can write
nothing any more.

A store in a database has this shape: `Kept` is its tables, `_held` the condition of each write.
"""

import asyncio
import re
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from langgraph.checkpoint.base import get_checkpoint_id
from langgraph.checkpoint.memory import InMemorySaver

from retrai_core import (
    AgentEvent,
    Answer,
    Claim,
    ClaimLostError,
    Journal,
    RunNotFoundError,
    RunRecord,
    RunStore,
    SentCommand,
    StoreOptions,
    UsageError,
)


@dataclass
class Kept:
    """What is kept of one run."""

    record: RunRecord
    claim: Claim = field(default_factory=lambda: Claim("", "nobody", 0))
    lease_s: float = 0.0
    until: float = 0.0
    events: list = field(default_factory=list)
    questions: dict = field(default_factory=dict)
    mailbox: list = field(default_factory=list)
    begun: dict = field(default_factory=dict)
    ended: dict = field(default_factory=dict)
    blobs: dict = field(default_factory=dict)
    saver: InMemorySaver = field(default_factory=InMemorySaver)


class Place:
    """What several stores share: the runs, and who waits for changes of which."""

    def __init__(self):
        self.runs = {}
        self.waiting = defaultdict(list)

    def changed(self, run_id, *, record=False):
        for queue in [*self.waiting[run_id], *(self.waiting[None] if record else [])]:
            queue.put_nowait(run_id)


class InMemory(RunStore):
    name = "in-memory"
    summary = "forgets every run when the process ends"

    def __init__(self, options=None, place=None):
        super().__init__(options or StoreOptions())
        self.place = place or Place()
        self.claims = []

    def _kept(self, run_id):
        if run_id not in self.place.runs:
            raise RunNotFoundError(f"no run {run_id!r} is kept in memory")
        return self.place.runs[run_id]

    def _held(self, claim):
        """The run, as long as this claim is its last and the lease has not passed."""
        kept = self.place.runs.get(claim.run_id)
        if kept is None or kept.claim != claim or time.monotonic() >= kept.until:
            raise ClaimLostError(f"{claim.worker} does not hold run {claim.run_id} any more")
        return kept

    async def create(self, record):
        if record.id in self.place.runs:
            raise UsageError(f"there is a run {record.id} already")
        self.place.runs[record.id] = Kept(record.model_copy(deep=True))
        self.place.changed(record.id, record=True)

    async def load(self, run_id):
        runs = self.place.runs
        found = [run_id] if run_id in runs else [name for name in runs if name.startswith(run_id)]
        if not run_id or len(found) != 1:
            raise RunNotFoundError(f"{len(found)} runs have an id that begins with {run_id!r}")
        return runs[found[0]].record.model_copy(deep=True)

    async def list(self, **filters):
        kept = self.place.runs.values()
        return self.select([each.record.model_copy(deep=True) for each in kept], **filters)

    async def delete(self, run_id):
        if time.monotonic() < self._kept(run_id).until:
            raise UsageError(f"somebody works on run {run_id}")
        del self.place.runs[run_id]
        self.place.changed(run_id, record=True)

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
        kept = self.place.runs.get(claim.run_id)
        if kept is not None and kept.claim == claim:
            kept.until = 0.0
            self.place.changed(claim.run_id)

    async def save(self, claim, record):
        self._held(claim).record = record.model_copy(deep=True)
        self.place.changed(claim.run_id, record=True)

    async def append_events(self, claim, events):
        kept = self._held(claim)
        last = len(kept.events)
        if [event.seq for event in events] != [last + 1 + n for n in range(len(events))]:
            raise ValueError(f"the numbers of these events do not go on from {last}")
        kept.events.extend(events)
        self.place.changed(claim.run_id)
        return len(kept.events)

    async def read_events(self, run_id, after=0):
        return self._kept(run_id).events[after:]

    async def put_question(self, claim, question):
        self._held(claim).questions[question.id] = question
        self.place.changed(claim.run_id)

    async def questions(self, run_id):
        return [*self._kept(run_id).questions.values()]

    async def send(self, run_id, command):
        kept = self._kept(run_id)
        if isinstance(command, Answer):
            question = kept.questions.get(command.question_id)
            sent = [each.command for each in kept.mailbox if isinstance(each.command, Answer)]
            is_late = command.question_id in [answer.question_id for answer in sent]
            if is_late or question is None or question.state != "open":
                return False
        number = len(kept.mailbox) + 1
        kept.mailbox.append(SentCommand(number=number, sent_at=time.time(), command=command))
        self.place.changed(run_id)
        return True

    async def commands(self, claim, after):
        return self._held(claim).mailbox[after:]

    def changes(self, run_id):
        if run_id is not None:
            self._kept(run_id)
        queue = asyncio.Queue()
        self.place.waiting[run_id].append(queue)
        return self._changes(run_id, queue)

    async def _changes(self, run_id, queue):
        try:
            if run_id is not None:
                yield run_id
            while True:
                yield await queue.get()
        finally:
            self.place.waiting[run_id].remove(queue)

    @asynccontextmanager
    async def journal(self, claim):
        self._held(claim)
        yield Calls(lambda: self._held(claim), claim.number)

    async def tool_result(self, run_id, call_id):
        ended = self._kept(run_id).ended.items()
        return next((r for key, r in reversed(ended) if key.endswith(f"/{call_id}")), None)

    @asynccontextmanager
    async def checkpointer(self, claim):
        yield Checkpoints(self._held(claim).saver, lambda: self._held(claim))

    async def put_blob(self, claim, name, data):
        if not re.fullmatch(r"(?!\.+$)[A-Za-z0-9._-]+", name):
            raise UsageError(f"{name!r} is no name of an artifact")
        self._held(claim).blobs[name] = data

    async def get_blob(self, run_id, name):
        return self._kept(run_id).blobs.get(name)

    async def aclose(self):
        for claim in self.claims:
            await self.release(claim)


class Calls(Journal):
    """The journal of a claim; `held` gives the run, or says that the claim is lost."""

    def __init__(self, held, number):
        self.held, self.number, self.kept = held, number, held()

    async def finished(self, key):
        return self.kept.ended.get(key)

    async def cut_off(self, key):
        return self.kept.begun.get(key, self.number) != self.number and key not in self.kept.ended

    async def begin(self, key, tool):
        self.held().begun.setdefault(key, self.number)

    async def end(self, key, result):
        self.held().ended[key] = result


class Checkpoints(InMemorySaver):
    """LangGraph's checkpoints; the latest one is the one that was written last."""

    def __init__(self, shared, held):
        super().__init__()
        self.storage, self.writes, self.blobs = shared.storage, shared.writes, shared.blobs
        self.held = held

    def _written(self, config):
        place = config["configurable"]
        return self.storage[place["thread_id"]][place.get("checkpoint_ns", "")]

    def _latest(self, config):
        """The configuration with the id of the latest checkpoint, where it has none."""
        written = self._written(config)
        if get_checkpoint_id(config) or not written:
            return config
        return {"configurable": {**config["configurable"], "checkpoint_id": [*written][-1]}}

    def get_tuple(self, config):
        return super().get_tuple(self._latest(config))

    def get_delta_channel_history(self, *, config, channels):
        return super().get_delta_channel_history(config=self._latest(config), channels=channels)

    def list(self, config, *, filter=None, before=None, limit=None):  # noqa: A002 - LangGraph's
        found = {each.checkpoint["id"]: each for each in super().list(config, filter=filter)}
        ids = [*reversed(self._written(config))]
        if before is not None:
            ids = ids[ids.index(get_checkpoint_id(before)) + 1 :]
        return iter([found[name] for name in ids if name in found][:limit])

    def put(self, config, checkpoint, metadata, new_versions):
        self.held()
        self._written(config).pop(checkpoint["id"], None)
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config, writes, task_id, task_path=""):
        self.held()
        super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id):
        self.held()
        super().delete_thread(thread_id)


async def main():
    """Two workers and one run: the first falls silent, the second goes on."""
    place = Place()
    first, second = InMemory(place=place), InMemory(place=place)
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
