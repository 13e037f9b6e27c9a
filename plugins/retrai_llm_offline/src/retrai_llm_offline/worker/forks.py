"""Forked children that answer in JSON lines; each is killed in time and reaped.

They stay in the worker's process group, so that whoever ends the worker ends them too.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
from typing import Any, Callable, Dict, Iterator, Optional

Message = Dict[str, Any]
Send = Callable[[Message], None]


class Child:
    """A forked process running one function, seen from its parent."""

    def __init__(self, work: Callable[[Send], None]) -> None:
        reading, writing = os.pipe()
        gc.freeze()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(reading)
                work(lambda message: _write(writing, message))
                status = 0
            except BaseException:  # noqa: BLE001 - a fork must never return into its parent's code
                status = 1
            finally:
                os._exit(status)
        os.close(writing)
        self._reading = reading
        self._buffer = b""
        self.timed_out = False
        self.cpu_s = 0.0
        self._reaped = False

    def messages(self, wall_s: float) -> Iterator[Message]:
        """What the child sends, until it ends or stays silent for so long; then it is reaped."""
        try:
            while True:
                message = self.next_message(wall_s)
                if message is None:
                    return
                yield message
        finally:
            self.end()

    def next_message(self, wall_s: float) -> Optional[Message]:
        """The next message, or None when the child ended or was silent for too long."""
        deadline = time.monotonic() + wall_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._reading], [], [], left)[0]:
                self.timed_out = True
                return None
            data = os.read(self._reading, 65536)
            if not data:
                return None
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            found: Message = json.loads(line)
        except ValueError:
            return {}
        return found

    def end(self) -> None:
        """Kill the child if it still runs and reap it."""
        if self._reaped:
            return
        self._reaped = True
        os.close(self._reading)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        _, _, usage = os.wait4(self.pid, 0)
        self.cpu_s = usage.ru_utime + usage.ru_stime


def _write(descriptor: int, message: Message) -> None:
    data = json.dumps(message).encode("utf-8") + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
