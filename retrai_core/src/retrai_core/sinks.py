"""Event sinks: each hears the run in its own thread, so that a slow one slows nobody."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any as AsyncEventBus
from typing import Any as Subscription

from .events import AgentEvent
from .plugins.hooks import HookCaller
from .plugins.record import PluginRecord

_DRAIN_TIMEOUT_S = 5.0


class EventSinks:
    """Feeds the `on_event` hooks of one run from the bus.

    A sink that raises hears no more; one that is still busy when the run ends is given five
    seconds.

    Args:
        hooks: the run's hook plugins.
        bus: the run's bus; the sinks have heard everything when it is closed and `drain` returns.

    Attributes:
        failed: the sinks that raised, once each, with what they raised; it is published too.
    """

    def __init__(self, hooks: HookCaller, bus: AsyncEventBus) -> None:
        self.failed: list[tuple[PluginRecord, Exception]] = []
        self._bus = bus
        self._tasks = [
            # What was said while the run was wired came before there were sinks.
            asyncio.create_task(
                self._feed(_SinkThread(hooks, record), bus.subscribe(after=bus.first_seq - 1))
            )
            for record in hooks.implementers("on_event")
        ]

    async def drain(self) -> None:
        """Wait until every sink has heard everything, within the limit; close the bus first."""
        if self._tasks:
            _, pending = await asyncio.wait(self._tasks, timeout=_DRAIN_TIMEOUT_S)
            for task in pending:
                task.cancel()

    async def _feed(self, sink: _SinkThread, events: Subscription) -> None:
        try:
            async for event in events:
                answer = await asyncio.wrap_future(sink.hear(event))
                if isinstance(answer, Exception):
                    self.failed.append((sink.record, answer))
                    message = f"the event sink {sink.record.full_name} failed: {answer}"
                    told = {"level": "warning", "message": message}
                    self._bus.publish(AgentEvent("log", event.run_id, event.iteration, told))
                    return
        finally:
            sink.end()


class _SinkThread:
    """One sink's own thread. A pool's thread would be waited for when the process ends, and a sink
    that hangs would keep a pool from everyone else."""

    def __init__(self, hooks: HookCaller, record: PluginRecord) -> None:
        self.record = record
        self._hooks = hooks
        self._waiting: SimpleQueue[tuple[AgentEvent, Future[object]] | None] = SimpleQueue()
        name = f"sink {record.full_name}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def hear(self, event: AgentEvent) -> Future[object]:
        """Hand the event to the sink; the future is done when it has heard it."""
        done: Future[object] = Future()
        self._waiting.put((event, done))
        return done

    def end(self) -> None:
        """No more events."""
        self._waiting.put(None)

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            event, done = item
            if done.set_running_or_notify_cancel():
                done.set_result(self._answer(event))

    def _answer(self, event: AgentEvent) -> object:
        try:
            return self._hooks.call_one(self.record, "on_event", event=event)
        except SystemExit as error:  # not an Exception, and would end only this thread, silently
            return RuntimeError(f"it raised SystemExit({error.code!r})")
