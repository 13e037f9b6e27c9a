"""Reads a report while it is being written, so that nobody can change what was said.

The report is a named pipe. Code that is tested may write to it as the reporter does, but a line
that was written is read and gone: a failure can be contradicted, and not be taken back.
"""

from __future__ import annotations

import os
import select
import threading
import time
from pathlib import Path
from types import TracebackType

MAX_BYTES = 200_000_000
_POLL_MS = 100
_CHUNK = 1 << 16
_GRACE_S = 1.0


class LiveReport:
    """The bytes that were written to the pipe at `path` while the block ran.

    Attributes:
        path: of the pipe; it is made here.
        data: all bytes, complete when the block is left; cut at `MAX_BYTES`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = b""
        self._chunks: list[bytes] = []
        self._ended, self._end = threading.Event(), 0.0
        os.mkfifo(path)
        path.chmod(0o666)  # tests may run as another user
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # With a writer of ours the pipe has no end between two lines.
        self._writer = os.open(path, os.O_WRONLY)
        self._thread = threading.Thread(target=self._read, name="retrai-report", daemon=True)

    def __enter__(self) -> LiveReport:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end = time.monotonic()
        self._ended.set()
        os.close(self._writer)
        self._thread.join()
        os.close(self._pipe)
        self.data = b"".join(self._chunks)

    def _read(self) -> None:
        poll, size = select.poll(), 0
        poll.register(self._pipe, select.POLLIN)
        while True:
            if not poll.poll(_POLL_MS):
                if self._ended.is_set():
                    return  # a process that was left behind still has the pipe open
                continue
            if self._ended.is_set() and time.monotonic() > self._end + _GRACE_S:
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
