"""While the run's libraries are imported in a thread, no other thread sets out to import them."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from retrai_core import RunContext
from retrai_core.runs.runtime_tools import contribute
from retrai_core.workspace.safe_paths import SafeWorkspace


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    """Of a run whose warm-up goes on."""
    context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
    context.warmed_up.clear()
    return context


def test_another_model_is_made_after_the_warm_up(context: RunContext) -> None:
    over: list[bool] = []

    def make(name: str, temperature: float, api_key: str | None) -> Any:
        over.append(context.warmed_up.is_set())

    context.models_part = make
    thread = Thread(target=context.chat_model, args=["judge"])
    thread.start()
    assert not over
    context.warmed_up.set()
    thread.join()
    assert over == [True]


async def test_tools_are_asked_for_after_the_warm_up(context: RunContext) -> None:
    over: list[bool] = []

    class Hooks:
        def implementers(self, _: str) -> list[object]:
            return [object()]

        def call_one(self, *_: object, **__: object) -> object:
            over.append(context.warmed_up.is_set())
            return []

    async def never(*_: object) -> None:
        raise AssertionError("there is no tool to close")

    hooks: Any = Hooks()
    async with AsyncExitStack() as stack:
        asking = asyncio.create_task(
            contribute(hooks, context, stack, never, leaves_out=lambda _: False)
        )
        await asyncio.sleep(0)
        assert not over
        context.warmed_up.set()
        await asking
    assert over == [True]


def test_nobody_waits_where_no_warm_up_was_begun(tmp_path: Path) -> None:
    context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
    context.models_part = lambda name, temperature, api_key: name  # type: ignore[assignment,return-value]
    assert context.chat_model("judge") == "judge"
