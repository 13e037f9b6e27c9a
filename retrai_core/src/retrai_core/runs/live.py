"""Streams the model's text through a socket in the run's folder; best effort, not stored."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_SOCKET = "live.sock"
_LONGEST_PATH = 100
"""Bytes; a socket's address has room for 104 to 108."""
_BEHIND_BYTES = 1_000_000
"""A reader that is further behind than this misses text."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text.

    Attributes:
        message_id: the same for all pieces of one answer.
        text: the piece.
    """

    message_id: str
    text: str


class LiveText:
    """The holder's end: sends pieces of text to all connected readers."""

    def __init__(self) -> None:
        self._readers: set[asyncio.StreamWriter] = set()

    @property
    def has_readers(self) -> bool:
        """Whether anybody listens now."""
        return bool(self._readers)

    def send(self, message_id: str, text: str) -> None:
        """Hand on a piece of text; never waits."""
        line = json.dumps([message_id, text]).encode() + b"\n"
        for reader in self._readers:
            if reader.transport.get_write_buffer_size() < _BEHIND_BYTES:
                reader.write(line)

    @asynccontextmanager
    async def served(self, folder: Path) -> AsyncGenerator[None]:
        """Listen in the run's folder; without a socket there, nobody hears anything."""
        path = folder / _SOCKET
        server: asyncio.Server | None = None
        with suppress(OSError), _short(folder) as short:
            path.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(self._serve, f"{short}/{_SOCKET}")
        try:
            yield
        finally:
            if server is not None:
                server.close()
                for reader in list(self._readers):
                    reader.close()
                path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._readers.add(writer)
        try:
            await reader.read()  # until it goes away
        finally:
            self._readers.discard(writer)
            writer.close()


async def deltas_of(folder: Path) -> AsyncIterator[TextDelta]:
    """What the holder says from now on, until it goes away; nothing where none is there."""
    try:
        with _short(folder) as short:
            reader, writer = await asyncio.open_unix_connection(f"{short}/{_SOCKET}")
    except OSError:
        return
    try:
        while line := await reader.readline():
            message_id, text = json.loads(line)
            yield TextDelta(message_id, text)
    except (OSError, ValueError):  # the holder was killed amid a line
        return
    finally:
        writer.close()


@contextmanager
def _short(folder: Path) -> Generator[str]:
    """A path of the folder that is short enough for a socket's address."""
    if len(os.fsencode(folder)) + len(_SOCKET) < _LONGEST_PATH:
        yield str(folder)
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)
