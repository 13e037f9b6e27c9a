"""Calling a plugin's code that may block: in a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


_Inbox = SimpleQueue[Callable[[], None]]

_idle: deque[_Inbox] = deque()
"""Of the threads that have nothing to do: starting one takes longer than most of their work."""

os.register_at_fork(after_in_child=_idle.clear)  # a forked child has none of the threads


def start_aside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do `work` in a daemon thread that does nothing else; the future has its result or exception.

    Unlike a thread of asyncio's pool it keeps neither the event loop from being closed nor the
    process from ending, should the work never end, and no other work waits behind it.
    """
    outcome: Future[T] = Future()
    context = contextvars.copy_context()
    inbox = _idle_thread()

    def run() -> None:
        if not outcome.set_running_or_notify_cancel():
            _idle.append(inbox)
            return
        try:
            result = context.run(work)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            _idle.append(inbox)
            outcome.set_exception(error)
        else:
            _idle.append(inbox)
            outcome.set_result(result)

    inbox.put(run)
    return asyncio.wrap_future(outcome)


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
