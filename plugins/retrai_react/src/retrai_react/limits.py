"""Limits: so many steps at once, and so many of a project within a minute."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

WINDOW_S = 60.0


class LimitReachedError(Exception):
    """A step must wait.

    Args:
        message: which limit it is.
        retry_after_s: whole seconds after which another try may succeed.
    """

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_s = retry_after_s


class Limits:
    """Counts the steps.

    Args:
        per_minute: steps of one project within a minute.
        in_flight: steps of all projects at the same time.
    """

    def __init__(self, per_minute: int, in_flight: int) -> None:
        self._per_minute = per_minute
        self._max_in_flight = in_flight
        self._in_flight = 0
        self._begun: dict[str, deque[float]] = {}

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """A step, from its first byte to its answer.

        Raises:
            LimitReachedError: as many as may be are at work.
        """
        if self._in_flight >= self._max_in_flight:
            raise LimitReachedError(f"{self._max_in_flight} steps are at work already", 1)
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    def count(self, project: str, now: float | None = None) -> None:
        """Count a step of a project.

        Raises:
            LimitReachedError: it has had as many as it may within the last minute.
        """
        now = time.monotonic() if now is None else now
        begun = self._begun.setdefault(project, deque())
        while begun and begun[0] <= now - WINDOW_S:
            begun.popleft()
        if len(begun) >= self._per_minute:
            wait_s = math.ceil(begun[0] + WINDOW_S - now)
            raise LimitReachedError(
                f"a project may have {self._per_minute} steps a minute", max(1, wait_s)
            )
        begun.append(now)
