"""How much processor time a search may use, its children's included."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import Generator


class Budget:
    """Counts this process, its reaped children, and what a live session says of itself."""

    def __init__(self, cpu_s: float, wall_s: float) -> None:
        self.cpu_s = cpu_s
        self.wall_s = wall_s
        self._began = time.monotonic()
        self.session_cpu_s = 0.0
        self.tried = 0

    @property
    def used_cpu_s(self) -> float:
        """Processor seconds so far."""
        times = os.times()
        return times[0] + times[1] + times[2] + times[3] + self.session_cpu_s

    @contextmanager
    def looking(self) -> Generator[None, None, None]:
        """Time that is not the search's: how long the tests take depends on the project alone."""
        began = self.used_cpu_s
        yield
        self.cpu_s += self.used_cpu_s - began

    @contextmanager
    def at_most(self, cpu_s: float) -> Generator[None, None, None]:
        """Only so many of the processor seconds that are left; the others are kept for later."""
        kept = max(0.0, self.left_s() - cpu_s)
        self.cpu_s -= kept
        yield
        self.cpu_s += kept

    @property
    def used_wall_s(self) -> float:
        """Seconds on the clock so far."""
        return time.monotonic() - self._began

    def left_s(self) -> float:
        """Processor seconds left; 0 when the clock has run out."""
        if self.used_wall_s >= self.wall_s:
            return 0.0
        return max(0.0, self.cpu_s - self.used_cpu_s)
