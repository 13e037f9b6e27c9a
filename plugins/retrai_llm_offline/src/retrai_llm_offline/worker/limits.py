"""Limits on processor time and memory for one attempt, and the exception that ends it."""

from __future__ import annotations

import resource
import signal
import time
from types import FrameType
from typing import Optional

MEMORY_HEADROOM_BYTES = 768 * 1024 * 1024


class OutOfTimeError(BaseException):
    """A test's processor time is used up; no `except Exception` of the project catches it."""


class Alarm:
    """Raises `OutOfTimeError` in the main thread when a test has used up its time.

    It rings again and again, for code that swallows it, and remembers that it rang. A loop that
    never comes back to Python ends by RLIMIT_CPU, with the process.
    """

    def __init__(self) -> None:
        self.rang = False
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, self._ring)

    def _ring(self, _signal: int, _frame: Optional[FrameType]) -> None:
        self.rang = True
        raise OutOfTimeError

    def arm(self, cpu_s: float, wall_s: float) -> None:
        """Ring after so much processor time, or so much time on the clock."""
        self.rang = False
        soft = int(time.process_time() + cpu_s) + 2
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        if hard == resource.RLIM_INFINITY or soft < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
        signal.setitimer(signal.ITIMER_PROF, cpu_s, 0.05)
        signal.setitimer(signal.ITIMER_REAL, wall_s, 0.05)

    def disarm(self) -> None:
        """Stop the timers."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit_memory(headroom: int = MEMORY_HEADROOM_BYTES) -> None:
    """Allow the process so many bytes of address space more than it has now (Linux only)."""
    try:
        with open("/proc/self/statm") as stream:
            pages = int(stream.read().split()[0])
        wanted = pages * resource.getpagesize() + headroom
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or wanted < hard:
            resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (OSError, ValueError):
        return
