"""Tools that plugins offer at run time, where the run ends before they have answered."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

from retrai_core import RunContext
from retrai_core.plugins.hooks import HookCaller
from retrai_core.runs.runtime_tools import contribute
from retrai_core.workspace.safe_paths import SafeWorkspace


class SlowToSay:
    """The hooks of one plugin that answers with a coroutine, once it may."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.coroutine: Coroutine[object, object, list[object]] | None = None

    def implementers(self, _: str) -> list[object]:
        return [object()]

    def call_one(self, *_: object, **__: object) -> object:
        async def tools() -> list[object]:
            return []

        self.asked.set()
        assert self.may_answer.wait(30)
        self.coroutine = tools()
        return self.coroutine

    def is_closed(self) -> bool:
        made = self.coroutine
        return made is not None and inspect.getcoroutinestate(made) == inspect.CORO_CLOSED


async def test_what_a_plugin_offers_to_a_run_that_has_ended_is_closed(tmp_path: Path) -> None:
    hooks = SlowToSay()
    anything = cast("Any", None)
    context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
    async with AsyncExitStack() as stack:
        asking = asyncio.create_task(
            contribute(cast("HookCaller", hooks), context, stack, anything, lambda _: False)
        )
        assert await asyncio.to_thread(hooks.asked.wait, 30)
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()
    hooks.may_answer.set()
    async with asyncio.timeout(30):
        while not hooks.is_closed():
            await asyncio.sleep(0.01)
