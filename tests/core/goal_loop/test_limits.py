"""Runs that use up their budget, and runs that go round in circles."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from retrai_core.agents.budget import Budget, allowance
from retrai_core.agents.goal_loop.progress import (
    SEEN_LIMIT,
    Progress,
    advance,
    fresh_progress,
    trouble,
    turn_digest,
)

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
    ended = await runs.resume(record.id, max_tokens=100_000)
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
    gave_up = {"text": "I cannot\nfix this.", "finish": "gave_up"}
    record = await runs.run([call("look", path="a.txt"), gave_up], max_iterations=30)
    assert (record.status, len(runs.events(record, "llm_usage"))) == ("failed", 2)
    assert record.reason == "the model gave up; it said: I cannot fix this."
    anew = f"retrai run {record.goal} -C {record.project} --model NAME"
    assert record.next_step == f"{anew} takes another model"
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


def test_what_the_provider_has_counted_stands_in_the_place_of_the_estimate() -> None:
    messages, tokens = [HumanMessage("x" * 90_000)], Budget(max_tokens=20_000)
    assert "50000" not in allowance(tokens, messages, 0, 0, 0.0, {}).problem
    assert allowance(tokens, messages, 0, 0, 0.0, {}).problem
    assert allowance(tokens, messages, 0, 0, 0.0, {}, 1_000).output_tokens == 16_384
    assert allowance(tokens, messages, 0, 0, 0.0, {}, 19_900).problem


async def test_a_run_counts_with_its_provider_beside_the_event_loop(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    prompts: list[str] = []

    def counted(self: Any, model: str, text: str) -> int:
        prompts.append(text)
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return 1_000_000

    monkeypatch.setattr(scripted_plugins.Scripted, "count_tokens", counted)
    record = await runs.run([MEND], max_tokens=500_000)
    assert record.status == "budget"
    assert "the next call may need 100" in record.reason  # the million, the tools, an answer
    assert "a.txt" in prompts[0]


def test_an_unknown_price_keeps_no_limit_in_dollars() -> None:
    allowed = allowance(Budget(max_cost_usd=5), [], 0, 0, 0.0, {"input": None, "output": None})
    assert "price is not known" in allowed.problem


async def test_the_same_call_again_and_again_is_warned_once_and_then_ends_stuck(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt")], max_iterations=50)
    assert (record.status, record.exit_code, record.iterations) == ("stuck", 5, 6)
    assert "the same calls gave the same results 6 times" in record.reason
    warnings = [text for text in runs.seen(record)[-1] if "You are going in circles" in text]
    assert len(warnings) == 1
    # Each call uses 15 tokens, and 44 of the 50 iterations were not made.
    assert (record.saved_iterations, record.saved_tokens) == (44, 44 * 15)


async def test_a_circle_of_several_calls_ends_stuck(runs: Runs) -> None:
    turns = [call("look", path=name) for name in ["a.txt", "b.txt", "expected.txt"] * 10]
    record = await runs.run(turns, max_iterations=50)
    assert (record.status, record.iterations) == ("stuck", 10)
    assert "the same calls gave the same results" in record.reason


async def test_a_model_that_looks_at_something_new_in_each_turn_is_never_stuck(
    runs: Runs, project: Path
) -> None:
    for number in range(76):
        (project / f"notes{number}.txt").write_text(f"note {number}\n")
    looks = [call("look", path=f"notes{number}.txt") for number in range(76)]
    record = await runs.run([*looks, MEND], max_iterations=100)
    assert (record.status, record.iterations) == ("achieved", 77)


async def test_what_was_read_before_may_be_read_once_more(runs: Runs) -> None:
    looks = [call("look", path=f"missing{number}.txt") for number in range(20)]
    record = await runs.run([*looks, *looks, MEND], max_iterations=50)
    assert record.status == "achieved"
    assert not [text for text in runs.seen(record)[-1] if "You are going in circles" in text]


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
        ([("t", str(i)) for i in range(500)], ""),
        ([("t", "c")] * 2, ""),
        ([("t", "c")] * 3, "the same calls gave the same results 3 times"),
        ([("t", c) for c in "ababa"], "the same calls gave the same results 3 times"),
        ([("t", c) for c in "abcdabcdabcd"], "the same calls gave the same results 3 times"),
        # What was read long ago may be read again.
        ([("t", c) for c in "abcdefabcdef"], ""),
        ([("t", c) for c in "aaab"], ""),
        ([("t", c) for c in ("a", "", "a", "", "a")], "the same calls gave the same results 3"),
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


def test_a_circle_that_is_longer_than_what_is_remembered_is_left_to_the_budgets() -> None:
    turns = [("t", str(number % (SEEN_LIMIT + 1))) for number in range(4 * SEEN_LIMIT)]
    progress = after(turns)
    assert not trouble(progress)
    assert len(progress.get("seen", {})) == SEEN_LIMIT


def test_the_progress_of_an_earlier_versions_checkpoint_goes_on() -> None:
    """As 0.x kept it, with the counters that are gone now."""
    earlier: Any = {
        "tree": "t",
        "same_tree": 41,
        "calls": "c",
        "same_calls": 2,
        "trees": ["t"],
        "warned_at": 40,
    }
    assert not trouble(earlier)
    progress = advance(earlier, "t", "c")
    assert not trouble(progress)
    assert trouble(advance(advance(progress, "t", "c"), "t", "c"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1 failed in 0.12s", "1 failed in 1.04s"),
        ("real\t0m0.123s", "real\t0m1.456s"),
        ("<shop.Order object at 0x7f07017f11d0>", "<shop.Order object at 0x7e11017c98d0>"),
        ("/tmp/pytest-of-me/pytest-3/test_a0/x", "/tmp/pytest-of-me/pytest-4/test_a0/x"),
        ("killed process 4711", "killed process 4812"),
        ("2026-11-23 10:24:10,123 ERROR no", "2026-11-24 11:25:11,456 ERROR no"),
    ],
)
def test_what_only_time_or_place_make_different_is_the_same_result(first: str, second: str) -> None:
    assert turn_digest([("shell", {}, first)]) == turn_digest([("shell", {}, second)])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("read", {"line": 1}, "text"), ("read", {"line": 101}, "text")),
        (("shell", {}, "1 failed in 0.12s"), ("shell", {}, "2 failed in 0.12s")),
        (("shell", {}, "12% done"), ("shell", {}, "24% done")),
        (("shell", {"command": "sleep 1s"}, ""), ("shell", {"command": "sleep 2s"}, "")),
    ],
)
def test_other_calls_and_other_answers_are_new(first: Any, second: Any) -> None:
    assert turn_digest([first]) != turn_digest([second])
