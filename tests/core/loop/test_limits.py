"""Runs that use up their budget, and runs that go round in circles."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from retrai_core.loop.budget import Budget, allowance
from retrai_core.loop.progress import Progress, advance, fresh_progress, trouble
from retrai_core.run_manager import RunManager

Runs = Any


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")


def looking() -> list[dict[str, Any]]:
    """Turns that look at different files, so that none repeats the last."""
    return [call("look", path=f"missing{i}.txt") for i in range(30)]


async def test_a_limit_in_dollars_ends_the_run_before_it_is_passed(runs: Runs) -> None:
    # The scripted model costs a dollar for 1,000 tokens and says that it used 15 a call.
    record = await runs.run(looking(), max_cost_usd=2.0, max_iterations=30)
    assert (record.status, record.exit_code) == ("budget", 6)
    assert "$2 were allowed" in record.reason
    assert record.cost_usd is not None
    assert record.cost_usd < 2.0


async def test_a_resumed_run_goes_on_with_a_higher_limit_and_bills_nothing_twice(
    runs: Runs,
) -> None:
    record = await runs.run([*looking()[:2], MEND], max_tokens=100, max_iterations=30)
    assert record.status == "budget"
    calls = len(runs.events(record, "llm_usage"))
    ended = await RunManager(runs.store).resume(record.id, max_tokens=100_000)
    assert ended.status == "achieved"
    every = runs.events(ended, "llm_usage")
    assert len(every) > calls
    assert ended.tokens.total == 15 * len(every)


async def test_a_model_that_uses_no_tokens_is_stopped_by_no_limit_of_them(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await runs.run([MEND], max_tokens=10)).status == "budget"
    provider = importlib.import_module("scripted_plugins").Scripted
    monkeypatch.setattr(provider, "uses_tokens", False)
    assert (await runs.run([MEND], max_time_s=0.0)).status == "budget"
    assert (await runs.run([MEND], max_tokens=10, max_cost_usd=0.0)).status == "achieved"


async def test_a_limit_in_seconds_ends_the_run(runs: Runs) -> None:
    record = await runs.run(looking(), max_time_s=0.0, max_iterations=30)
    assert record.status == "budget"
    assert runs.events(record, "llm_usage") == []


async def test_a_model_that_calls_no_tool_is_asked_again_a_few_times(runs: Runs) -> None:
    record = await runs.run([{"text": f"thought {i}"} for i in range(9)], max_iterations=30)
    assert (record.status, len(runs.events(record, "llm_usage"))) == ("failed", 3)
    assert "called no tool in 3 turns; it last said: thought" in record.reason


async def test_a_model_that_knows_that_it_can_do_no_more_is_not_asked_again(runs: Runs) -> None:
    gave_up = {"text": "I cannot\nmend this.", "finish": "gave_up"}
    record = await runs.run([call("look", path="a.txt"), gave_up], max_iterations=30)
    assert (record.status, len(runs.events(record, "llm_usage"))) == ("failed", 2)
    assert record.reason == "the model gave up; it said: I cannot mend this."
    assert record.next_step == "retrai run --model NAME takes another model"
    assert runs.events(record, "llm_usage")[-1].payload["finish_reason"] == "gave_up"


async def test_a_call_counts_whatever_its_turn_says_of_the_end(runs: Runs) -> None:
    record = await runs.run([{**MEND, "finish": "gave_up"}], max_iterations=30)
    assert record.status == "achieved"


@given(
    limit=st.floats(0.0, 10.0),
    spent=st.floats(0.0, 10.0),
    chars=st.integers(0, 100_000),
    prices=st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)),
)
def test_the_worst_that_an_allowed_call_may_cost_never_passes_the_limit(
    limit: float, spent: float, chars: int, prices: tuple[float, float]
) -> None:
    price = {"input": prices[0], "output": prices[1]}
    allowed = allowance(Budget(max_cost_usd=limit), [HumanMessage("x" * chars)], 0, 0, spent, price)
    if not allowed.problem:
        assert allowed.output_tokens is not None
        # One token has about four characters; a prompt of `chars` has no more than a third.
        worst = (chars / 3 * prices[0] + allowed.output_tokens * prices[1]) / 1e6
        assert spent + worst <= limit + 1e-9


def test_the_arguments_of_earlier_calls_count_as_part_of_the_prompt() -> None:
    arguments = {"path": "a.py", "text": "x" * 300_000}
    written = AIMessage("", tool_calls=[{"id": "1", "name": "file_write", "args": arguments}])
    allowed = allowance(Budget(max_tokens=50_000), [written], 0, 0, 0.0, {})
    assert "50000 were allowed" in allowed.problem


def test_an_unknown_price_keeps_no_limit_in_dollars() -> None:
    allowed = allowance(Budget(max_cost_usd=5), [], 0, 0, 0.0, {"input": None, "output": None})
    assert "price is not known" in allowed.problem


async def test_the_same_call_again_and_again_is_warned_once_and_then_ends_stuck(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt")], max_iterations=50)
    assert (record.status, record.exit_code, record.iterations) == ("stuck", 5, 6)
    assert "the same call gave the same result 6 times" in record.reason
    warnings = [text for text in runs.seen(record)[-1] if "You are going in circles" in text]
    assert len(warnings) == 1
    # Each call uses 15 tokens, and 44 of the 50 iterations were not made.
    assert (record.saved_iterations, record.saved_tokens) == (44, 44 * 15)


async def test_going_back_and_forth_between_two_states_ends_stuck(runs: Runs) -> None:
    turns = [call("put", path="a.txt", text=text) for text in ["one", "two"] * 20]
    record = await runs.run(turns, max_iterations=40)
    assert record.status == "stuck"
    assert "back and forth" in record.reason


async def test_a_model_that_takes_the_warning_goes_on(runs: Runs) -> None:
    same = call("look", path="a.txt")
    record = await runs.run([same, same, same, call("put", path="a.txt", text="x"), same, MEND])
    assert record.status == "achieved"


def after(turns: list[tuple[str, str]]) -> Progress:
    """The progress after turns of (tree, calls)."""
    progress = fresh_progress()
    for tree, calls in turns:
        progress = advance(progress, tree, calls)
    return progress


@pytest.mark.parametrize(
    ("turns", "says"),
    [
        ([], ""),
        ([("t", str(i)) for i in range(39)], ""),
        ([("t", str(i)) for i in range(40)], "nothing has changed for 40 turns"),
        ([("t", "c")] * 2, ""),
        ([("t", "c")] * 3, "the same call gave the same result 3 times"),
        ([("t", "")] * 3, ""),
        ([("t1", "c"), ("t2", "c"), ("t3", "c")], ""),
        ([(t, str(i)) for i, t in enumerate("abababa")], "back and forth"),
        ([(t, str(i)) for i, t in enumerate("abcabcabc")], ""),
    ],
)
def test_what_counts_as_going_in_circles(turns: list[tuple[str, str]], says: str) -> None:
    found = trouble(after(turns))
    assert says in found
    assert bool(found) == bool(says)
