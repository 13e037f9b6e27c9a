"""An event loop that ends with its work, whatever plugins leave behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..plugins.daemon_call import AsideExecutor

T = TypeVar("T")

_LEFT_TASKS_S = 2.0
"""For tasks that are left when the work has ended, a plugin's own, to heed their cancellation."""


def run_to_end(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, which would wait for ever for a plugin's thread, or task, that never ends."""
    runner = asyncio.Runner()
    loop = runner.get_loop()
    loop.set_default_executor(AsideExecutor())
    try:
        return runner.run(main)
    finally:
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_LEFT_TASKS_S))
        if asyncio.all_tasks(loop):
            loop.set_exception_handler(_say_nothing)  # nobody can do anything about them
        else:
            runner.close()


def _say_nothing(_: asyncio.AbstractEventLoop, __: dict[str, Any]) -> None:
    """Of tasks that are left behind."""
