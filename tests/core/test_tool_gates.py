"""What the tool gates together say of a call."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from retrai_core import GateDecision, ToolCall, hookimpl
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord
from retrai_core.runs.tool_gates import ToolGates

CALL = ToolCall("1", "shell", {"line": "ls"}, frozenset({"run"}))


def hooks(**plugins: object) -> HookCaller:
    """A caller of these plugins, each of a distribution of its own."""
    return HookCaller(
        (PluginRecord(name, "hook", f"dist-of-{name}", "1.0", f"{name}:Plugin"), plugin)
        for name, plugin in plugins.items()
    )


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
