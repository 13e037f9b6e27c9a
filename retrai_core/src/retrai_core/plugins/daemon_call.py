"""Calls plugin code that may block in a daemon thread, which nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_SHUTDOWN_LIMIT_S = 2.0

_Inbox = SimpleQueue[Callable[[], None]]

_idle: deque[_Inbox] = deque()
"""Of the threads that have nothing to do: starting one takes longer than most of their work."""

os.register_at_fork(after_in_child=_idle.clear)  # a forked child has none of the threads


def start_aside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do `work` in a daemon thread that does nothing else; the future has its result or exception.

    Unlike a thread of asyncio's pool it keeps neither the event loop from being closed nor the
    process from ending, should the work never end, and no other work waits behind it.
    """
    return asyncio.wrap_future(_begin(partial(contextvars.copy_context().run, work)))


def _begin(work: Callable[[], T]) -> Future[T]:
    outcome: Future[T] = Future()
    inbox = _idle_thread()

    def run() -> None:
        if not outcome.set_running_or_notify_cancel():
            _idle.append(inbox)
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            _idle.append(inbox)
            outcome.set_exception(error)
        else:
            _idle.append(inbox)
            outcome.set_result(result)

    inbox.put(run)
    return outcome


class AsideExecutor(ThreadPoolExecutor):
    """For `loop.set_default_executor`, if a thread that never ends must not block anything.

    A pool's threads are waited for when its loop is closed, and again when the process ends.
    """

    def __init__(self) -> None:
        super().__init__()
        self._at_work: set[Future[Any]] = set()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it in a daemon thread that does nothing else."""
        future = _begin(partial(fn, *args, **kwargs))
        self._at_work.add(future)
        future.add_done_callback(self._at_work.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what is at work come to its end for a moment: it may be writing a file."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            wait_for(set(self._at_work), timeout=_SHUTDOWN_LIMIT_S)


def _idle_thread() -> _Inbox:
    """The inbox of a thread that is idle, a new one where all are at work."""
    try:
        return _idle.pop()
    except IndexError:
        inbox: _Inbox = SimpleQueue()
        threading.Thread(target=_serve, args=[inbox], name="a plugin's code", daemon=True).start()
        return inbox


def _serve(inbox: _Inbox) -> None:
    while True:
        inbox.get()()


async def aside(work: Callable[[], T], limit_s: float) -> T:
    """Do `work` in a daemon thread, which is left behind after `limit_s` seconds.

    Raises:
        TimeoutError: it did not end in time.
    """
    try:
        async with asyncio.timeout(limit_s):
            return await start_aside(work)
    except TimeoutError as error:
        raise TimeoutError(f"it did not answer within {limit_s:g} s") from error
