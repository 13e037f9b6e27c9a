"""Calling a plugin's code that may block: in a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start_aside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do `work` in a daemon thread of its own; the future has its result or exception.

    Unlike a thread of asyncio's pool it keeps neither the event loop from being closed nor the
    process from ending, should the work never end.
    """
    outcome: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        if not outcome.set_running_or_notify_cancel():
            return
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="a plugin's code", daemon=True).start()
    return asyncio.wrap_future(outcome)


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
