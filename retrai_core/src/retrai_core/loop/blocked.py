"""Ends a tool that blocks the event loop: a time-out of asyncio cannot, it would have to run there.

A tool that calls `time.sleep` or a library without time-outs in `async def run` stops the whole run
where it stands. While calls run, a timer's signal looks once a second; its handler is called in the
middle of whatever blocks, and raises there.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType

from ..contracts.tool import Tool

_LOOK_S = 1.0
_GRACE_S = 2.0
"""Beyond the tool's limit, without a sign of life of the loop: its own time-out comes first."""


class BlockedLoopWatch:
    """Watches the tool calls of one turn.

    It does nothing outside the main thread, where signals are not handled, or where somebody else
    uses `SIGALRM`.
    """

    def __init__(self) -> None:
        self._deadlines: dict[object, tuple[CodeType, float]] = {}
        self._alive = 0.0
        self._beat: asyncio.TimerHandle | None = None

    @contextmanager
    def over(self, tool: Tool, limit_s: float) -> Generator[None]:
        """Watch one call.

        Raises:
            TimeoutError: in the tool's own code, when it blocked the loop beyond `limit_s` seconds.
        """
        code = getattr(inspect.unwrap(type(tool).run), "__code__", None)
        if code is None or not (self._deadlines or self._start()):
            yield
            return
        call = object()
        self._deadlines[call] = (code, time.monotonic() + limit_s)
        try:
            yield
        finally:
            del self._deadlines[call]
            if not self._deadlines:
                self._stop()

    def _start(self) -> bool:
        if threading.current_thread() is not threading.main_thread():
            return False
        if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) != signal.SIG_DFL:
            return False
        self._live()
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
        return True

    def _stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if self._beat is not None:
            self._beat.cancel()

    def _live(self) -> None:
        self._alive = time.monotonic()
        self._beat = asyncio.get_running_loop().call_later(_LOOK_S / 2, self._live)

    def _look(self, _: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._alive < _GRACE_S:
            return
        late = {code for code, deadline in self._deadlines.values() if now > deadline + _GRACE_S}
        while frame is not None:
            if frame.f_code in late:
                raise TimeoutError("it blocks the event loop")
            frame = frame.f_back
