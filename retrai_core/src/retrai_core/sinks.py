"""Event sinks: each hears the run in its own thread, so that a slow one slows nobody."""

from __future__ import annotations

import asyncio

from .bus import AsyncEventBus, Subscription
from .plugins.hooks import HookCaller
from .plugins.record import PluginRecord

_DRAIN_TIMEOUT_S = 5.0


class EventSinks:
    """Feeds the `on_event` hooks of one run from the bus.

    A sink that raises is reported once and hears no more; one that is still busy when the run ends
    is given five seconds.
    """

    def __init__(self, hooks: HookCaller, bus: AsyncEventBus) -> None:
        self.failed: list[tuple[PluginRecord, Exception]] = []
        self._hooks = hooks
        self._tasks = [
            asyncio.create_task(self._feed(record, bus.subscribe()))
            for record in hooks.implementers("on_event")
        ]

    async def drain(self) -> None:
        """Wait until every sink has heard everything, within the limit."""
        if self._tasks:
            _, pending = await asyncio.wait(self._tasks, timeout=_DRAIN_TIMEOUT_S)
            for task in pending:
                task.cancel()

    async def _feed(self, record: PluginRecord, events: Subscription) -> None:
        async for event in events:
            answer = await asyncio.to_thread(self._hooks.call_one, record, "on_event", event=event)
            if isinstance(answer, Exception):
                self.failed.append((record, answer))
                return
