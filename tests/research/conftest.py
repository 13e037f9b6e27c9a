"""A small project, a scripted model on the wire, and runs of the agent on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, RunManager, RunRecord

from .wire import Serving, Wire

CART = '''\
"""A cart of items."""

from .prices import price_of


class Cart:
    """What a customer wants to buy."""

    def __init__(self):
        self.items = []

    def total(self):
        """The sum of the prices of all items."""
        return sum(price_of(item) for item in self.items)


def checkout():
    """Pay for a cart."""
    return Cart().total()
'''
PRICES = '''\
"""Prices."""

PRICES = {"tea": 3}


def price_of(item):
    """The price of an item."""
    return PRICES[item]
'''


@dataclass
class Asked:
    """A run of the agent, and what it told."""

    record: RunRecord
    events: list[AgentEvent]

    def progress(self, name: str) -> list[dict[str, Any]]:
        given = [each.payload for each in self.events if each.kind == "progress"]
        return [each["data"] for each in given if each["name"] == name]

    def nodes(self) -> list[str]:
        return [str(each.payload["node"]) for each in self.events if each.kind == "step_start"]

    def results(self) -> list[dict[str, Any]]:
        return [dict(each.payload) for each in self.events if each.kind == "tool_result"]


Ask = Callable[..., Any]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project; state, cache and configuration lie beside it."""
    folder = tmp_path / "shop"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_text(CART)
    (folder / "shop" / "prices.py").write_text(PRICES)
    for name in ("ANTHROPIC_API_KEY", "RETRAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("RETRAI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The scripted model."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    wire = Wire()
    with Serving(wire):
        yield wire


@pytest.fixture
def ask(shop: Path) -> Ask:
    """Asks the agent a question about the project: `await ask(question, wire, **settings)`."""

    async def ask(question: str, wire: Wire | None = None, **settings: Any) -> Asked:
        given: dict[str, Any] = {"agent": "research", "goal": [], "sandbox": "local", **settings}
        if wire is not None:
            given["model"] = "openai/scripted"
            given["plugins"] = {"litellm": {"api_base": wire.url}}
        async with RunManager(engine="inline") as manager:
            request = await manager.prepare(shop, input={"question": question}, **given)
            run = await manager.submit(request)
            record = await run.result()
            return Asked(record, list(await run.logged()))

    return ask
