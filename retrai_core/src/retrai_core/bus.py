"""The event bus of a run's holder: numbers, redacts and stores the events in order."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from .errors import RetraiError
from .events import AgentEvent

_GATHER_S = 0.02
"""Events that follow one another within this are one write."""


class EventBus:
    """Takes events from any thread; a task of its own stores them, so that publishing never waits.

    Args:
        append: keeps events for good (`RunStore.append_events` with the claim).
        last_seq: the number of the run's last event so far.

    Attributes:
        clean: takes secrets out of an event before anyone hears of it.

    Example:
        >>> async def hear():
        ...     kept = []
        ...     async def append(events):
        ...         kept.extend(events)
        ...     bus = EventBus(append)
        ...     bus.publish(AgentEvent("log", "r1", 0, {}))
        ...     await bus.aclose()
        ...     return [(event.seq, event.kind) for event in kept]
        >>> asyncio.run(hear())
        [(1, 'log')]
    """

    def __init__(
        self, append: Callable[[Sequence[AgentEvent]], Awaitable[object]], last_seq: int = 0
    ) -> None:
        self.clean: Callable[[AgentEvent], AgentEvent] | None = None
        self._append = append
        self._last_seq = last_seq
        self._listeners: list[Callable[[AgentEvent], None]] = []
        self._from_threads: deque[AgentEvent] = deque()
        self._waiting: list[AgentEvent] = []
        self._unheard: list[AgentEvent] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writer: asyncio.Task[None] | None = None
        self._problem: RetraiError | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def listen(self, hear: Callable[[AgentEvent], None]) -> None:
        """Call `hear` on the event loop for each event; it must not block.

        The first listener hears of what was published before it, too.
        """
        for event in self._unheard:
            hear(event)
        self._unheard.clear()
        self._listeners.append(hear)

    def publish(self, event: AgentEvent) -> None:
        """Number an event and have it kept; may be called from any thread.

        Raises:
            RetraiError: an earlier one could not be kept (a full disk, a lost claim); from then on
                none is.
        """
        if self.clean is not None:
            event = self.clean(event)
        if threading.get_ident() == self._thread:
            self._take_over()
            self._number(event)
            if self._problem is not None:
                raise self._problem
            return
        self._from_threads.append(event)
        with suppress(RuntimeError):  # the loop has ended, and the run with it
            self._loop.call_soon_threadsafe(self._take_over)

    async def flush(self) -> None:
        """Wait until everything that was published is kept.

        Raises:
            RetraiError: as for `publish`.
        """
        self._take_over()
        self._start_writer()
        if self._writer is not None and not self._writer.done():
            await asyncio.wait({self._writer})
        if self._problem is not None:
            raise self._problem

    async def aclose(self) -> None:
        """Keep what is left; nobody is told where that fails, since nobody can do anything."""
        with suppress(RetraiError):
            await self.flush()

    def _take_over(self) -> None:
        while self._from_threads:
            self._number(self._from_threads.popleft())

    def _number(self, event: AgentEvent) -> None:
        if self._problem is not None:
            return
        self._last_seq += 1
        event = replace(event, seq=self._last_seq)
        self._waiting.append(event)
        if not self._listeners:
            self._unheard.append(event)
        for hear in self._listeners:
            hear(event)
        if self._timer is None:
            self._timer = self._loop.call_later(_GATHER_S, self._start_writer)

    def _start_writer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and (self._writer is None or self._writer.done()):
            # A task of its own: nobody who gives up a flush cuts off a write.
            self._writer = self._loop.create_task(self._write())

    async def _write(self) -> None:
        while self._waiting and self._problem is None:
            batch, self._waiting = self._waiting, []
            try:
                await self._append(batch)
            except RetraiError as error:
                self._problem = error
            except Exception as error:  # noqa: BLE001 - a store's own; the log has a hole from here
                what = f"{type(error).__name__}: {error}"
                self._problem = RetraiError(f"the run's events cannot be kept: {what}")
