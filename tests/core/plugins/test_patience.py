"""An import that takes long is told, is left behind after its limit, and stops nobody."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from retrai_core import PluginError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.import_timeout import load_in_thread
from retrai_core.plugins.record import PluginRecord

SLOW = """
import slow_signals
from retrai_core import GoalBase, GoalResult
slow_signals.begun.set()
slow_signals.go_on.wait(60)

class Plugin(GoalBase):
    name = "slow"
    async def check(self, state, cwd):
        return GoalResult(True, "")
    def system_prompt(self):
        return ""
"""


class Signals:
    """What the import and the test tell each other, in the place of a module."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()


@pytest.fixture
def signals(site: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signals]:
    made = Signals()
    monkeypatch.setitem(sys.modules, "slow_signals", made)  # type: ignore[arg-type]  # no module
    site.install_goal("slow-goal", "slow", SLOW)
    yield made
    made.go_on.set()


def load(catalog: Catalog) -> PluginRecord:
    record = catalog.find("goal", "slow")
    catalog.load(record)
    return record


async def test_a_slow_import_is_told_once_and_waited_for(signals: Signals) -> None:
    catalog, told = Catalog.scan(), list[str]()

    def hear(line: str) -> None:
        told.append(line)
        signals.go_on.set()

    record = await load_in_thread(catalog, lambda: load(catalog), hear, notice_s=0.01)
    assert record.status == "ok"
    assert told == ["still importing the goal `slow` of slow-goal; it has 120 s"]


async def test_an_import_without_end_is_left_behind_with_its_name(signals: Signals) -> None:
    catalog = Catalog.scan()
    with pytest.raises(PluginError, match="the goal `slow` of slow-goal is not imported") as caught:
        await load_in_thread(
            catalog, lambda: load(catalog), lambda _: None, notice_s=0.01, limit_s=0.01
        )
    assert "RETRAI_DISABLE_PLUGINS=slow-goal" in caught.value.hint


async def test_whoever_gives_up_does_not_wait_for_the_import(signals: Signals) -> None:
    catalog = Catalog.scan()
    waiting = asyncio.create_task(load_in_thread(catalog, lambda: load(catalog), lambda _: None))
    assert await asyncio.to_thread(signals.begun.wait, 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not signals.go_on.is_set()


async def test_what_the_work_raises_is_handed_on() -> None:
    def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await load_in_thread(Catalog.scan(), work, lambda _: None)
