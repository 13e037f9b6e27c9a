"""Keeps the beginning and the end of the output of a command, whatever its size."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections import deque
from contextlib import suppress

PIPE_BYTES = 1_048_576
READ_BYTES = 262_144


class BoundedOutput:
    """The first and the last half of `max_bytes` of a stream.

    Example:
        >>> output = BoundedOutput(8)
        >>> output.feed(b"abcdefghijkl")
        >>> output.text()
        'abcd\\n[4 bytes left out]\\nijkl'
    """

    def __init__(self, max_bytes: int) -> None:
        self._half = max(1, max_bytes // 2)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the stream's next bytes."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def text(self) -> str:
        """What was kept, decoded as UTF-8; a line in between says how much was left out."""
        tail = b"".join(self._tail)
        surplus = max(0, len(tail) - self._half)
        dropped = self._dropped + surplus
        if not dropped:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head = bytes(self._head).decode("utf-8", "replace").rstrip("\ufffd")
        end = tail[surplus:].decode("utf-8", "replace").lstrip("\ufffd")
        return f"{head}\n[{dropped} bytes left out]\n{end}"


class OutputPipe:
    """A pipe whose reading end feeds a `BoundedOutput` on the running event loop.

    Args:
        max_bytes: how much is kept.

    Attributes:
        writer: the end for the command; close it with `close_writer` once it has been handed over.
    """

    def __init__(self, max_bytes: int) -> None:
        self.output = BoundedOutput(max_bytes)
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        # Larger than the usual 64 kB, so that a flood needs fewer turns of the event loop.
        grow = getattr(fcntl, "F_SETPIPE_SZ", None)
        if grow is not None:
            with suppress(OSError):  # at the user's limit (pipe(7)) a small one does as well
                fcntl.fcntl(self._reader, grow, PIPE_BYTES)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reader, self._read)

    def close_writer(self) -> None:
        """Close our copy of the command's end."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def finish(self) -> str:
        """Take what is still in the pipe, close it, and give the text.

        Called when the command has ended: all it wrote is in the pipe by then. The pipe's end is
        not waited for, since a process that could not be ended may hold it open.
        """
        if self._reader >= 0:
            for _ in range(2 * PIPE_BYTES // READ_BYTES):
                if not self._read():
                    break
        self.close()
        return self.output.text()

    def close(self) -> None:
        """Close both ends."""
        self.close_writer()
        if self._reader >= 0:
            self._loop.remove_reader(self._reader)
            os.close(self._reader)
            self._reader = -1

    def _read(self) -> bool:
        try:
            data = os.read(self._reader, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._reader)
            return False
        self.output.feed(data)
        return True
