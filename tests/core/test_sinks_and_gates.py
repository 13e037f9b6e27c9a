"""What hook plugins hear of a run, and what they may refuse in it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, GateDecision, ToolCall, hookimpl
from retrai_core.bus import AsyncEventBus
from retrai_core.gates import ToolGates
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord
from retrai_core.runs.log import RunLog
from retrai_core.sinks import EventSinks

CALL = ToolCall("1", "shell", {"line": "ls"}, frozenset({"run"}))


def hooks(**plugins: object) -> HookCaller:
    """A caller of these plugins, each of a distribution of its own."""
    return HookCaller(
        (PluginRecord(name, "hook", f"dist-of-{name}", "1.0", f"{name}:Plugin"), plugin)
        for name, plugin in plugins.items()
    )


def event(number: int) -> AgentEvent:
    return AgentEvent("log", "r1", 0, {"level": "info", "message": str(number)})


class Listening:
    """Remembers what it heard, and in which thread; `reached` is set by the fiftieth event."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.reached = threading.Event()
        self.threads: set[int] = set()

    @hookimpl
    def on_event(self, event: AgentEvent) -> None:
        self.heard.append(event.payload["message"])
        self.threads.add(threading.get_ident())
        if len(self.heard) == 50:
            self.reached.set()


class Failing(Listening):
    """Raises at the second event."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    @hookimpl
    def on_event(self, event: AgentEvent) -> None:
        super().on_event(event)
        if len(self.heard) == 2:
            raise self.error


class Waiting(Listening):
    """Hears nothing more until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Event()
        self.go = threading.Event()

    @hookimpl
    def on_event(self, event: AgentEvent) -> None:
        self.busy.set()
        self.go.wait(30)
        super().on_event(event)


class Gate:
    """A gate with one answer for every call."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[ToolCall] = []

    @hookimpl
    def before_tool(self, call: ToolCall, context: Any) -> object:
        self.asked.append(call)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


async def decide(**gates: object) -> GateDecision:
    """What these gates together say, asked in the order of their names."""
    return await ToolGates(hooks(**gates), None).decide(CALL)  # type: ignore[arg-type]  # no gate here looks at the run


async def test_every_sink_hears_every_event_in_order_in_a_thread_of_its_own() -> None:
    one, two = Listening(), Listening()
    bus = AsyncEventBus()
    sinks = EventSinks(hooks(one=one, two=two), bus)
    for i in range(20):
        bus.publish(event(i))
    bus.close()
    await sinks.drain()
    assert one.heard == two.heard == [str(i) for i in range(20)]
    assert len(one.threads) == len(two.threads) == 1
    assert len({threading.get_ident()} | one.threads | two.threads) == 3


async def test_a_sink_also_hears_what_was_said_while_the_run_was_wired(tmp_path: Path) -> None:
    log, sink = RunLog(tmp_path / "events.jsonl"), Listening()
    bus = AsyncEventBus(read_back=log.read)
    bus.attach(log.append)
    bus.publish(event(0))
    sinks = EventSinks(hooks(sink=sink), bus)
    bus.publish(event(1))
    bus.close()
    await sinks.drain()
    assert sink.heard == ["0", "1"]


@pytest.mark.parametrize("error", [OSError("disk full"), SystemExit(3)])
async def test_a_sink_that_raises_is_reported_once_and_silences_nobody(
    error: BaseException,
) -> None:
    failing, listening = Failing(error), Listening()
    bus = AsyncEventBus()
    sinks = EventSinks(hooks(failing=failing, listening=listening), bus)
    for i in range(10):
        bus.publish(event(i))
    bus.close()
    await sinks.drain()
    assert listening.heard == [str(i) for i in range(10)]
    assert failing.heard == ["0", "1"], "it hears no more after it raised"
    [(record, told)] = sinks.failed
    assert record.full_name == "failing@dist-of-failing"
    assert ("disk full" in str(told)) or ("SystemExit(3)" in str(told))


async def test_a_slow_sink_slows_neither_publishing_nor_the_other_sinks() -> None:
    slow, quick = Waiting(), Listening()
    bus = AsyncEventBus()
    sinks = EventSinks(hooks(slow=slow, quick=quick), bus)
    reader = bus.subscribe()
    for i in range(50):
        bus.publish(event(i))
    async with asyncio.timeout(30):
        async for heard in reader:
            if heard.payload["message"] == "49":
                break
        await asyncio.to_thread(quick.reached.wait, 30)
    assert len(quick.heard) == 50
    assert slow.heard == []
    slow.go.set()
    bus.close()
    await sinks.drain()
    assert slow.heard == [str(i) for i in range(50)], "it was late, and it missed nothing"


async def test_sinks_that_hang_leave_the_run_s_own_threads_alone() -> None:
    hanging = {f"sink{i}": Waiting() for i in range(40)}
    bus = AsyncEventBus()
    EventSinks(hooks(**hanging), bus)
    bus.publish(event(0))
    async with asyncio.timeout(30):
        for sink in hanging.values():
            assert await asyncio.to_thread(sink.busy.wait, 10)
        assert await asyncio.to_thread(lambda: "still free") == "still free"
    for sink in hanging.values():
        sink.go.set()
    bus.close()


HANGING = """
import asyncio, threading
from retrai_core import AgentEvent, hookimpl
from retrai_core.bus import AsyncEventBus
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord
from retrai_core import sinks

busy = threading.Event()

class Hanging:
    @hookimpl
    def on_event(self, event):
        busy.set()
        threading.Event().wait()

async def main():
    sinks._DRAIN_TIMEOUT_S = 0.1
    bus = AsyncEventBus()
    record = PluginRecord("hanging", "hook", "acme", "1.0", "acme:Hanging")
    fed = sinks.EventSinks(HookCaller([(record, Hanging)]), bus)
    bus.publish(AgentEvent("log", "r1", 0, {}))
    await asyncio.to_thread(busy.wait)
    bus.close()
    await fed.drain()
    print("drained")

asyncio.run(main())
print("ended")
"""


def test_a_sink_that_hangs_keeps_the_process_from_ending_no_longer_than_its_limit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["drained", "ended"], done.stderr


async def test_without_a_gate_a_call_is_allowed() -> None:
    assert (await decide()).verdict == "allow"


async def test_gates_without_an_opinion_allow() -> None:
    assert (await decide(one=Gate(None), two=Gate(GateDecision("allow")))).verdict == "allow"


async def test_one_ask_outweighs_every_allow() -> None:
    ask = GateDecision("ask", "it runs a command")
    allow = GateDecision("allow")
    assert await decide(a=Gate(allow), b=Gate(ask), c=Gate(allow)) == ask


async def test_of_several_that_ask_the_first_one_s_reason_is_shown() -> None:
    first, second = GateDecision("ask", "first"), GateDecision("ask", "second")
    assert await decide(a=Gate(first), b=Gate(second)) == first


@pytest.mark.parametrize("order", ["abc", "bca", "cab", "acb", "bac", "cba"])
async def test_one_deny_outweighs_everything_in_any_order(order: str) -> None:
    answers = [
        GateDecision("allow"),
        GateDecision("ask", "really?"),
        GateDecision("deny", "not here"),
    ]
    gates = {name: Gate(answer) for name, answer in zip(order, answers, strict=True)}
    assert await decide(**gates) == answers[2]


@pytest.mark.parametrize("error", [RuntimeError("out of order"), SystemExit(0), StopIteration()])
async def test_a_gate_that_raises_denies_and_is_named(error: BaseException) -> None:
    answer = await decide(good=Gate(GateDecision("allow")), bad=Gate(error))
    assert answer.verdict == "deny"
    assert "bad@dist-of-bad" in answer.reason
    assert type(error).__name__ in answer.reason


@pytest.mark.parametrize(
    "nonsense",
    [True, "allow", 1, {"verdict": "allow"}, GateDecision("maybe")],  # type: ignore[arg-type]  # a plugin may say anything
)
async def test_a_gate_that_answers_nonsense_denies(nonsense: object) -> None:
    answer = await decide(odd=Gate(nonsense))
    assert answer.verdict == "deny"
    assert "odd@dist-of-odd" in answer.reason


async def test_a_gate_that_does_not_answer_denies() -> None:
    never = threading.Event()

    class Hanging:
        @hookimpl
        def before_tool(self, call: ToolCall) -> None:
            never.wait(60)

    gates = ToolGates(hooks(hanging=Hanging()), None, limit_s=0.01)  # type: ignore[arg-type]  # this gate does not look at the run
    decision = await gates.decide(CALL)
    never.set()
    assert decision.verdict == "deny"
    assert "hanging@dist-of-hanging" in decision.reason
    assert "did not answer within 0.01 s" in decision.reason


async def test_gates_are_told_the_call_and_its_needs() -> None:
    gate = Gate(None)
    await decide(only=gate)
    assert gate.asked == [CALL]
