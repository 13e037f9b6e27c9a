"""`--max-time` bounds whatever a plugin does: wait, block, sit in a thread, ignore its end."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hostile.commands import run
from hostile.making import GOAL, Hostile, tool, wheel
from hostile.retrai_cells import START, Place

LIMITS_S = (4, 15, 60)
"""The next one where the run had not come to the plugin before its time was over."""
TIMEOUT_S = 120
REACHED = "open(os.environ['HOME'] + '/reached', 'a').close()"

SWALLOWS = f"""
        import os
        {REACHED}
        while True:
            try:
                await asyncio.sleep(1000)
            except BaseException:
                pass
"""
HOOK = f'''
import os, threading
class Plugin:
    """Never answers."""
    @hookimpl
    def METHOD:
        {REACHED}
        threading.Event().wait()
'''
MODEL = f'''
import os, time, threading
from langchain_core.language_models import BaseChatModel
class Chat(BaseChatModel):
    @property
    def _llm_type(self):
        return "NAME"
    def bind_tools(self, tools, **kwargs):
        return self
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        raise NotImplementedError
    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        {REACHED}
        time.sleep(10**6)
class Plugin(LLMProvider):
    """A model that blocks the event loop."""
    name = "NAME"
    model_patterns = ("NAME",)
    def create(self, model, temperature, context):
        return Chat()
    def warm_up(self):
        WARM_UP
    async def aclose(self):
        CLOSING
    def cost_usd(self, model, usage):
        return 0.0
'''


def called(name: str, body: str) -> Hostile:
    return tool(name, name, body.strip(), "", "")


def goal(name: str, check: str) -> Hostile:
    code = GOAL.replace("NAME", name).replace(
        "return GoalResult((cwd",
        f"import asyncio, os, time\n        {check}\n        return GoalResult((cwd",
    )
    return Hostile(name, name, [wheel(name, code)], "", arguments=(name, "-m", "player"))


def model(name: str, warm_up: str = "pass", closing: str = "pass") -> Hostile:
    code = MODEL.replace("NAME", name).replace("WARM_UP", warm_up).replace("CLOSING", closing)
    return Hostile(name, name, [wheel(name, code, "llm")], "", arguments=("held", "-m", name))


def hook(name: str, method: str) -> Hostile:
    made = wheel(name, HOOK.replace("METHOD", method), "hook")
    return Hostile(name, name, [made], "")


@dataclass
class Ended:
    """One run that had the limit."""

    code: int | None
    text: str
    record: dict[str, Any]
    limit_s: float


def run_within_limit(place: Place) -> Ended:
    """Run it with a limit that is long enough for the plugin to be reached."""
    reached = place.project.parent / "reached"
    for limit_s in LIMITS_S:
        place.fresh(place.row.config)
        words = ["run", *place.row.arguments, "--max-time", str(limit_s), "--json"]
        command = [sys.executable, "-c", START, *words]
        done = run(command, place.project, place.environment, TIMEOUT_S)
        assert done.exit_code is not None, f"it hangs: {done.text[-500:]}"
        assert not done.left, done.left
        if reached.exists():
            return Ended(done.exit_code, done.text, json.loads(done.out), limit_s)
    raise AssertionError("the plugin was not reached")


@pytest.mark.parametrize(
    "row",
    [
        called("sleeps", f"import os; {REACHED}; await asyncio.sleep(10**6)"),
        called("blocks", f"import os; {REACHED}; time.sleep(10**6)"),
        called("in-thread", f"import os; {REACHED}; await asyncio.to_thread(time.sleep, 10**6)"),
        called("swallows", SWALLOWS),
        goal("check-waits", f"{REACHED}; await asyncio.sleep(10**6)"),
        goal("check-blocks", f"{REACHED}; time.sleep(10**6)"),
        goal("check-in-thread", f"{REACHED}; await asyncio.to_thread(time.sleep, 10**6)"),
        model("model-blocks"),
        model("import-hangs", f"{REACHED}; threading.Event().wait()"),
        model("closing-blocks", closing="time.sleep(10**6)"),
        hook("gate-hangs", "before_tool(self, call, context)"),
        hook("prompt-hangs", "system_prompt(self, goal, context)"),
        hook("offer-hangs", "tools(self, context)"),
    ],
    ids=lambda row: row.name,
)
def test_a_plugin_that_never_ends_ends_with_the_run_s_time(row: Hostile, tmp_path: Path) -> None:
    done = run_within_limit(Place(tmp_path / "place", row))
    assert (done.code, done.record["status"]) == (6, "budget"), done.text
    assert "max_time" in done.record["reason"]
    assert done.record["needed"] == {"limit": "max_time_s", "at_least": pytest.approx(done.limit_s)}
    assert "--max-time" in done.record["next_step"]


@pytest.mark.parametrize(
    "row",
    [
        called("raises", "raise asyncio.CancelledError"),
        called("awaits-one", "f = asyncio.Future(); f.cancel(); await f"),
    ],
    ids=lambda row: row.name,
)
def test_a_tool_that_cancels_itself_has_failed_and_the_run_goes_on(
    row: Hostile, tmp_path: Path
) -> None:
    place = Place(tmp_path / "place", row)
    place.fresh(row.config)
    done = place.retrai("run", *row.arguments, "--max-time", "300")
    assert done.exit_code == 0, done.text
    assert "CancelledError" in place.log()


def test_a_check_that_cancels_itself_is_an_error_and_no_interruption(tmp_path: Path) -> None:
    place = Place(tmp_path / "place", goal("check-raises", "raise asyncio.CancelledError"))
    place.fresh({})
    done = place.retrai("run", *place.row.arguments)
    assert done.exit_code == 70, done.text
    assert "CancelledError" in done.text
