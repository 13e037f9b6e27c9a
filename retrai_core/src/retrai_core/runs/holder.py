"""The only writer of a run: everything that it publishes and saves goes through the claim."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..bus import EventBus
from ..contracts.record import RunRecord
from ..contracts.store import Claim, Journal, RunStore
from ..events import AgentEvent, EventKind

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


@dataclass
class Holder:
    """The worker of a run, which alone may write its data.

    Attributes:
        store: where the run is kept.
        claim: the right to write it.
        record: the run's; saved as it stands by `save`.
        folder: the run's own folder on this machine.
        bus: numbers and keeps the events.
    """

    store: RunStore
    claim: Claim
    record: RunRecord
    folder: Path
    bus: EventBus

    def publish(self, kind: EventKind, **payload: object) -> None:
        """Publish an event of the run.

        Raises:
            RetraiError: events cannot be kept any more.
        """
        self.bus.publish(AgentEvent(kind, self.record.id, self.record.iterations, payload))

    async def save(self) -> None:
        """Keep the record as it stands."""
        await self.store.save(self.claim, self.record)

    async def events(self) -> list[AgentEvent]:
        """Every event of the run so far."""
        await self.bus.flush()
        return await read_all(self.store, self.record.id)

    def journal(self) -> AbstractAsyncContextManager[Journal]:
        """The journal of the run's tool calls."""
        return self.store.journal(self.claim)

    @asynccontextmanager
    async def checkpointer(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """The run's checkpoints, each written after the events that came before it."""
        async with self.store.checkpointer(self.claim) as saver:
            yield _flushing(saver, self.bus)


async def read_all(store: RunStore, run_id: str, after: int = 0) -> list[AgentEvent]:
    """Every event of a run behind number `after`."""
    found: list[AgentEvent] = []
    while batch := await store.read_events(run_id, after):
        found += batch
        after = batch[-1].seq
    return found


def _flushing(inner: BaseCheckpointSaver[Any], bus: EventBus) -> BaseCheckpointSaver[Any]:
    """The saver, but for its writes: the events before them are kept first."""
    from langgraph.checkpoint.base import BaseCheckpointSaver

    class FlushingSaver(BaseCheckpointSaver[Any]):
        """Forwards every call to another saver."""

        def __init__(self) -> None:
            super().__init__(serde=inner.serde)

        def get_next_version(self, current: Any, channel: None) -> Any:
            return inner.get_next_version(current, channel)

        async def aget_tuple(self, config: Any) -> Any:
            return await inner.aget_tuple(config)

        async def alist(self, config: Any, **filters: Any) -> AsyncIterator[Any]:
            async for found in inner.alist(config, **filters):
                yield found

        async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            await bus.flush()
            return await inner.aput(config, checkpoint, metadata, new_versions)

        async def aput_writes(
            self, config: Any, writes: Sequence[Any], task_id: str, task_path: str = ""
        ) -> None:
            await bus.flush()
            await inner.aput_writes(config, writes, task_id, task_path)

        async def aget_delta_channel_history(
            self, *, config: Any, channels: Sequence[str]
        ) -> Mapping[str, Any]:
            return await inner.aget_delta_channel_history(config=config, channels=channels)

    return FlushingSaver()
