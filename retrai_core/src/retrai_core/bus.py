"""The event bus: one publisher, any number of readers, none of which can slow the run."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace

from .errors import RetraiError
from .events import AgentEvent

QUEUE_SIZE = 1000

ReadBack = Callable[[int, int], list[AgentEvent]]
"""The events with the numbers `first` to `last` (exclusive), from the run log."""


class Subscription:
    """One reader's bounded queue. Iterate over it; it ends when the bus is closed.

    When the reader is slow and the queue overflows, the oldest events leave the queue, and the
    reader gets them from the run log instead: it misses nothing and the run waits for nobody.
    """

    def __init__(self, size: int, read_back: ReadBack | None, after: int | None = None) -> None:
        self._queue: deque[AgentEvent] = deque(maxlen=size)
        self._read_back = read_back
        self._wake = asyncio.Event()
        self._closed = False
        self._next = None if after is None else after + 1

    def put(self, event: AgentEvent) -> None:
        """Take over an event; called by the bus, on the event loop."""
        if self._next is None:
            self._next = event.seq
        self._queue.append(event)
        self._wake.set()

    def close(self) -> None:
        """End the iteration after what is queued."""
        self._closed = True
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[AgentEvent]:
        while True:
            while self._queue:
                event = self._queue.popleft()
                expected = self._next if self._next is not None else event.seq
                self._next = event.seq + 1
                if event.seq > expected and self._read_back is not None:
                    for missed in await asyncio.to_thread(self._read_back, expected, event.seq):
                        yield missed
                yield event
            if self._closed:
                return
            self._wake.clear()
            await self._wake.wait()


class AsyncEventBus:
    """Numbers every published event and hands it to every reader, in order.

    Args:
        read_back: gives back events that a slow reader's queue could not hold.
        last_seq: the number of the run's last event so far.

    Attributes:
        first_seq: the number of the first event that this bus carries.
        clean: takes secrets out of an event before anyone hears of it.

    Example:
        >>> async def hear():
        ...     bus = AsyncEventBus()
        ...     reader = bus.subscribe()
        ...     bus.publish(AgentEvent("log", "r1", 0, {}))
        ...     bus.close()
        ...     return [event.kind async for event in reader]
        >>> asyncio.run(hear())
        ['log']
    """

    def __init__(self, read_back: ReadBack | None = None, last_seq: int = 0) -> None:
        self._read_back = read_back
        self._last_seq = last_seq
        self.first_seq = last_seq + 1
        self._readers: list[Subscription] = []
        self._direct: list[Callable[[AgentEvent], None]] = []
        self._from_threads: deque[AgentEvent] = deque()
        self._closed = False
        self.clean: Callable[[AgentEvent], AgentEvent] | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def subscribe(self, size: int = QUEUE_SIZE, *, after: int | None = None) -> Subscription:
        """A reader that hears everything from now on, its queue bounded to `size` events.

        With `after` it first hears, as soon as one more event is published, what follows the event
        of that number; that takes a `read_back`.
        """
        reader = Subscription(size, self._read_back, after)
        if self._closed:
            reader.close()
        self._readers.append(reader)
        return reader

    def attach(self, write: Callable[[AgentEvent], None]) -> None:
        """Call `write` for each event before any reader hears of it (the run log)."""
        self._direct.append(write)

    def publish(self, event: AgentEvent) -> None:
        """Hand `event` to every reader; may be called from any thread; never blocks on a reader.

        Raises:
            RetraiError: what is attached cannot take it (the run log, on a full disk).
        """
        if self.clean is not None:
            event = self.clean(event)
        if threading.get_ident() == self._thread:
            self._take_over()
            self._deliver(event)
            return
        self._from_threads.append(event)
        with suppress(RuntimeError):  # the loop has ended, and the run with it
            self._loop.call_soon_threadsafe(self._take_over_quietly)

    def _take_over_quietly(self) -> None:
        # A log that cannot be written is told to who publishes next; here nobody would hear it.
        with suppress(RetraiError):
            self._take_over()

    def _take_over(self) -> None:
        while self._from_threads:
            self._deliver(self._from_threads.popleft())

    def _deliver(self, event: AgentEvent) -> None:
        if self._closed:
            return
        event = replace(event, seq=self._last_seq + 1)
        for write in self._direct:
            write(event)
        self._last_seq = event.seq
        for reader in self._readers:
            reader.put(event)

    async def iter_events(self) -> AsyncIterator[AgentEvent]:
        """Everything from now on, until the bus is closed."""
        async for event in self.subscribe():
            yield event

    def close(self) -> None:
        """No more events: every reader ends after what it still has queued."""
        self._take_over_quietly()
        self._closed = True
        for reader in self._readers:
            reader.close()
