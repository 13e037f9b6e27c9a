"""The run's time limit: one deadline around all of its work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..contracts.record import NeededLimit
from ..errors import BudgetSpentError, RetraiError
from .loop_watchdog import BlockedLoopWatch

T = TypeVar("T")

_END_LIMIT_S = 5.0
"""For work that is cancelled to end the processes it started and to give back what it holds."""
_LAST_LIMIT_S = 1.0
"""After it was cancelled once more; then it is left behind."""


class OutOfTimeError(BudgetSpentError):
    """The run has used up its time and ends as `budget`."""


class Deadline:
    """Bounds the work of one run: model calls, tools, checks, retries and imports alike.

    Args:
        limit_s: seconds from now on, without those in which a person is asked; None is no limit.

    Attributes:
        has_passed: it has ended the run's work.
        watch: ends what blocks the event loop, where a deadline of asyncio's cannot act.
    """

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._ends_at = None if limit_s is None else time.monotonic() + limit_s
        self._paused = 0
        self._paused_at = 0.0
        self._timer: asyncio.Timeout | None = None
        self.has_passed = False
        self.watch = BlockedLoopWatch()

    @property
    def needed(self) -> NeededLimit:
        """The limit that was too low, of a run whose time is over."""
        return NeededLimit(limit="max_time_s", at_least=self._limit_s)

    async def bound(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` until the time is over; then, or when we are cancelled, it is cancelled.

        It has a task of its own, so that a plugin that ignores its cancellation keeps nobody.

        Raises:
            OutOfTimeError: the time was over first.
            RetraiError: something in it cancelled itself.
        """
        task = asyncio.create_task(_contained(work))
        limited = self._ends_at is not None
        try:
            watching = self.watch.over_all(self._is_over) if limited else nullcontext()
            with watching, suppress(TimeoutError):
                async with asyncio.timeout(None) as self._timer:
                    self._set_timer()
                    await asyncio.wait({task})
        finally:
            self._timer = None
            if not task.done():
                await end(task, _END_LIMIT_S)
        return self._result(task)

    def limit(self, limit_s: float | None) -> None:
        """Have the time end so many seconds from now, or never."""
        self._limit_s = limit_s
        self._ends_at = None if limit_s is None else time.monotonic() + limit_s
        self._paused_at = time.monotonic()
        self._set_timer()

    @contextmanager
    def paused(self) -> Generator[None]:
        """While a person is asked; what else the run does meanwhile is not counted either."""
        if not self._paused:
            self._paused_at = time.monotonic()
        self._paused += 1
        self._set_timer()
        try:
            yield
        finally:
            self._paused -= 1
            if not self._paused and self._ends_at is not None:
                self._ends_at += time.monotonic() - self._paused_at
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None and not self._timer.expired():
            self._timer.reschedule(None if self._paused else self._ends_at)

    def _is_over(self, now: float) -> bool:
        return self._ends_at is not None and not self._paused and now >= self._ends_at

    def _result(self, task: asyncio.Task[T | _Exit]) -> T:
        failed = not task.done() or task.cancelled() or task.exception() is not None
        # What fails behind the deadline does so because it was cancelled there.
        if failed and self._is_over(time.monotonic()):
            self.has_passed = True
            raise OutOfTimeError(f"the time limit of {self._limit_s:g} s (`max_time`) has passed")
        if task.cancelled():
            raise RetraiError("the run's work was cancelled from inside: a plugin's CancelledError")
        result = task.result()
        if isinstance(result, _Exit):
            raise result.error
        return result


@dataclass(frozen=True)
class _Exit:
    """Stands for the SystemExit of a plugin, which would end the event loop as an exception of a
    task."""

    error: SystemExit


async def _contained(work: Coroutine[Any, Any, T]) -> T | _Exit:
    try:
        return await work
    except SystemExit as error:
        return _Exit(error)


async def end(task: asyncio.Task[Any], limit_s: float) -> None:
    """Cancel a task and wait for its end; one that does not end, asked twice, is left behind.

    Args:
        task: what is to end.
        limit_s: seconds that it has for its end.
    """
    for seconds in (limit_s, _LAST_LIMIT_S):
        task.cancel()
        if (await asyncio.wait({task}, timeout=seconds))[0]:
            if not task.cancelled():
                task.exception()  # told by whoever has ended it, or of no interest any more
            return
