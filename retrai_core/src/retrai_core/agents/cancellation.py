"""Tells the cancellation of a task from a `CancelledError` that a plugin raised."""

from __future__ import annotations

import asyncio


def raise_if_cancelled(error: BaseException) -> None:
    """Hand `error` on where it is this task's own cancellation, and do nothing otherwise."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
