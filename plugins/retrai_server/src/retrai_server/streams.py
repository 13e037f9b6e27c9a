"""Live messages: each is made once, and all clients share its bytes.

A client takes what follows the last message that it has, as fast as it reads: nothing is queued for
it. What has left the memory by then is read from the store again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress

from websockets.frames import Frame, Opcode

from retrai_core import RetraiError, Run, RunManager, RunRecord

from .views import summary

_LOG_BYTES = 4_000_000
"""Of a run's newest messages in memory, for all of its clients together."""
_DELTA_BYTES = 256_000
_BATCH_BYTES = 64_000
_AGAIN_S = 1.0


def frame(text: str) -> bytes:
    """A text message as the bytes that every client gets: a server's frames have no mask."""
    # Half a surrogate pair as JSON's own escape.
    data = text.encode("utf-8", "backslashreplace")
    return Frame(Opcode.TEXT, data).serialize(mask=False, extensions=[])


class MessageLog:
    """The newest messages, numbered one by one.

    Args:
        last: the number before the first message.
        max_bytes: so much is kept.
    """

    def __init__(self, last: int, max_bytes: int) -> None:
        self.last = last
        self._max_bytes = max_bytes
        self._frames: list[bytes] = []
        self._bytes = 0
        self._batch: tuple[tuple[int, int], tuple[bytes, int]] = ((-1, -1), (b"", -1))

    @property
    def before(self) -> int:
        """The number before the first message that is kept."""
        return self.last - len(self._frames)

    def append(self, message: bytes) -> None:
        """Keep a message; half of the others leave where there is no room."""
        self._frames.append(message)
        self._bytes += len(message)
        self.last += 1
        while self._bytes > self._max_bytes and len(self._frames) > 1:
            gone = self._frames[: len(self._frames) // 2]
            del self._frames[: len(gone)]
            self._bytes -= sum(map(len, gone))

    def since(self, number: int) -> tuple[bytes, int]:
        """A batch of the messages behind `number`, and the number of its last one."""
        if number >= self.last:
            return b"", number
        asked = (number, self.last)
        if self._batch[0] != asked:  # clients that keep up ask for the same one
            frames = self._frames[number - self.before :]
            end, size = number, 0
            for message in frames:
                if size and size + len(message) > _BATCH_BYTES:
                    break
                end, size = end + 1, size + len(message)
            self._batch = (asked, (b"".join(frames[: end - number]), end))
        return self._batch[1]


class RunFeed:
    """The events of one run for all of its clients.

    Args:
        run: the run.
        after: the number of the event before the first that is read.
    """

    def __init__(self, run: Run, after: int) -> None:
        self.clients = 0
        self.has_ended = False
        self._run = run
        self._events = MessageLog(after, _LOG_BYTES)
        self._deltas = MessageLog(0, _DELTA_BYTES)
        self._changed = asyncio.Event()
        self._reading = asyncio.create_task(self._read())
        self._reading_deltas: asyncio.Task[None] | None = None

    async def follow(self, after: int, *, deltas: bool) -> AsyncGenerator[bytes]:
        """Frames behind event `after`, in batches, until the run has ended."""
        heard = self._deltas.last
        if deltas and self._reading_deltas is None:
            self._reading_deltas = asyncio.create_task(self._read_deltas())
        while True:
            changed = self._changed
            if after < self._events.before:
                async with aclosing(self._stored(after)) as stored:
                    async for frames, number in stored:
                        after = number
                        yield frames
                if after < self._events.before:  # the run has ended
                    return
            frames, after = self._events.since(after)
            if deltas:
                text, heard = self._deltas.since(max(heard, self._deltas.before))
                frames = text + frames
            if frames:
                yield frames
            elif self.has_ended:
                return
            else:
                await changed.wait()

    async def aclose(self) -> None:
        """Stop reading."""
        tasks = [task for task in (self._reading, self._reading_deltas) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    async def _stored(self, after: int) -> AsyncGenerator[tuple[bytes, int]]:
        """What has left the memory, or was never there, from the store."""
        batch = bytearray()
        async for event in self._run.events(after):
            after = event.seq
            batch += frame(event.to_json())
            if after >= self._events.before:
                break
            if len(batch) >= _BATCH_BYTES:
                yield bytes(batch), after
                batch.clear()
        yield bytes(batch), after

    async def _read(self) -> None:
        try:
            async for event in self._run.events(self._events.last):
                self._events.append(frame(event.to_json()))
                self._wake()
        except RetraiError:  # it was deleted: of a run that could not begin nothing is left
            pass
        finally:
            self.has_ended = True
            self._wake()

    async def _read_deltas(self) -> None:
        async for delta in self._run.deltas():
            payload = {"message_id": delta.message_id, "text": delta.text}
            message = {"kind": "delta", "run_id": self._run.id, "payload": payload}
            self._deltas.append(frame(json.dumps(message)))
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class RunFeeds:
    """The feeds of the runs that somebody follows."""

    def __init__(self) -> None:
        self._feeds: dict[str, RunFeed] = {}

    @asynccontextmanager
    async def of(self, run: Run, after: int) -> AsyncIterator[RunFeed]:
        """The run's feed, which reads while it has clients."""
        feed = self._feeds.get(run.id)
        if feed is None or feed.has_ended:  # an ended run may go on
            feed = self._feeds[run.id] = RunFeed(run, after)
        feed.clients += 1
        try:
            yield feed
        finally:
            feed.clients -= 1
            if not feed.clients:
                if self._feeds.get(run.id) is feed:
                    del self._feeds[run.id]
                await feed.aclose()

    async def aclose(self) -> None:
        """Stop reading."""
        for feed in list(self._feeds.values()):
            await feed.aclose()


class StatusFeed:
    """The status changes of all runs; a slow client gets only the newest of each run.

    Args:
        manager: knows of them.
        shows: whether clients may see a run.
    """

    def __init__(self, manager: RunManager, shows: Callable[[RunRecord], bool]) -> None:
        self._manager = manager
        self._shows = shows
        self._clients: set[_Newest] = set()
        self._reading: asyncio.Task[None] | None = None

    async def follow(self) -> AsyncGenerator[bytes]:
        """Frames, in batches."""
        newest = _Newest()
        self._clients.add(newest)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        try:
            while True:
                yield await newest.take()
        finally:
            self._clients.discard(newest)

    async def aclose(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _read(self) -> None:
        while True:
            with suppress(RetraiError):  # the store cannot be read now
                await self._hand_out()
            await asyncio.sleep(_AGAIN_S)

    async def _hand_out(self) -> None:
        async for record in self._manager.events():
            if self._clients and self._shows(record):
                message = frame(json.dumps({"kind": "status", **summary(record)}))
                for client in self._clients:
                    client.put(record.id, message)


class _Newest:
    """The newest message of each run that a client has not got yet."""

    def __init__(self) -> None:
        self._messages: dict[str, bytes] = {}
        self._is_there = asyncio.Event()

    def put(self, run_id: str, message: bytes) -> None:
        self._messages.pop(run_id, None)
        self._messages[run_id] = message
        self._is_there.set()

    async def take(self) -> bytes:
        await self._is_there.wait()
        self._is_there.clear()
        messages, self._messages = self._messages, {}
        return b"".join(messages.values())
