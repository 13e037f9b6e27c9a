"""Interrupts code that blocks the event loop, which a time-out of asyncio cannot do.

A plugin that calls `time.sleep`, or a library without time-outs, in an `async def` blocks the whole
run. A timer signal arrives once a second. Its handler interrupts the blocking code and raises
there: in a tool call after the tool's limit, and in any code after the run's.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import CodeType, FrameType

from ..contracts.tool import Tool

_LOOK_S = 1.0
_GRACE_S = 2.0
"""Beyond the limit, without a sign of life of the loop: its own time-out comes first."""


_IN_THE_LOOP = asyncio.Handle._run.__code__  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - every callback's frame
"""Below it runs somebody's code; without it the loop waits, and must not be disturbed."""


class BlockedLoopWatch:
    """Watches the work of one run.

    It does nothing outside the main thread, which cannot handle signals, or if other code uses
    `SIGALRM`.
    """

    def __init__(self) -> None:
        self._watched: dict[object, tuple[CodeType, Callable[[float], bool]]] = {}
        self._alive = 0.0
        self._beat: asyncio.TimerHandle | None = None

    @contextmanager
    def over(self, tool: Tool, limit_s: float) -> Generator[None]:
        """Watch one tool call.

        Raises:
            TimeoutError: in the tool's own code, when it blocked the loop beyond `limit_s` seconds.
        """
        code = getattr(inspect.unwrap(type(tool).run), "__code__", None)
        deadline = time.monotonic() + limit_s
        with self._watching(code, lambda now: now > deadline):
            yield

    @contextmanager
    def over_all(self, is_late: Callable[[float], bool]) -> Generator[None]:
        """Watch whatever runs on the loop.

        Args:
            is_late: whether a moment, by `time.monotonic`, is beyond the limit.

        Raises:
            TimeoutError: in the code that blocks the loop then.
        """
        with self._watching(_IN_THE_LOOP, is_late):
            yield

    @contextmanager
    def _watching(self, code: CodeType | None, is_late: Callable[[float], bool]) -> Generator[None]:
        if code is None or not (self._watched or self._start()):
            yield
            return
        key = object()
        self._watched[key] = (code, is_late)
        try:
            yield
        finally:
            del self._watched[key]
            if not self._watched:
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
        late = {code for code, is_late in self._watched.values() if is_late(now - _GRACE_S)}
        while frame is not None:
            if frame.f_code in late:
                raise TimeoutError("it blocks the event loop")
            frame = frame.f_back
