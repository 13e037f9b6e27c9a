"""Reads a report while it is being written, so that nobody can change what was said.

The report is a named pipe. Code that is tested may write to it as the reporter does, but a line
that was written is read and gone: a failure can be contradicted, and not be taken back.
"""

from __future__ import annotations

import math
import os
import select
import threading
import time
from pathlib import Path

from retrai_core import ToolError

MAX_BYTES = 200_000_000
_POLL_MS = 100
_CHUNK = 1 << 16
_GRACE_S = 1.0


class LiveReport:
    """The bytes that are written to a named pipe until it is closed.

    Args:
        path: of the pipe; it is made here.

    Attributes:
        data: all bytes, complete when it is closed; cut at `MAX_BYTES`.

    Raises:
        ToolError: the file system has no named pipes.
    """

    def __init__(self, path: Path) -> None:
        self.data = b""
        self._chunks: list[bytes] = []
        self._end_s = math.inf
        try:
            os.mkfifo(path)
        except OSError as error:
            raise ToolError(
                f"no named pipe can be made in {path.parent} ({error.strerror}), and pytest's "
                "report comes through one",
                hint="set TMPDIR to a folder on a file system that has named pipes",
            ) from error
        path.chmod(0o666)  # tests may run as another user
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # With a writer of ours the pipe has no end between two lines.
        self._writer = os.open(path, os.O_WRONLY)
        self._thread = threading.Thread(target=self._read, name="retrai-report", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read what is left, and stop; blocks for about a second at most."""
        self._end_s = time.monotonic()
        os.close(self._writer)
        self._thread.join()
        os.close(self._pipe)
        self.data = b"".join(self._chunks)

    def _read(self) -> None:
        poll, size = select.poll(), 0
        poll.register(self._pipe, select.POLLIN)
        while True:
            if not poll.poll(_POLL_MS):
                if time.monotonic() >= self._end_s:
                    return  # a process that was left behind still has the pipe open
                continue
            if time.monotonic() > self._end_s + _GRACE_S:
                return  # a process that was left behind writes without an end
            try:
                chunk = os.read(self._pipe, _CHUNK)
            except BlockingIOError:  # somebody else has read it
                continue
            if not chunk:
                return  # there is no writer any more
            size += len(chunk)
            if size <= MAX_BYTES:
                self._chunks.append(chunk)
