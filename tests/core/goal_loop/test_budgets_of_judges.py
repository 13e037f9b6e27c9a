"""What a check asks of a model counts towards the run's tokens, cost and limits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from retrai_core.agents.budget import MIN_OUTPUT_TOKENS, Budget
from retrai_core.agents.counted_model import Account, CountedModel
from retrai_core.agents.spending import Spending
from retrai_core.contracts.context import RunContext

Runs = Any
LOOK = {"text": "looking", "calls": [{"name": "look", "args": {"path": "a.txt"}}]}
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
ASK_TOKENS = 15
"""What the model `turns` uses for an answer; it costs 0.015 dollars."""


def asking(project: Path, times: int, **options: Any) -> None:
    """The goal's check asks the model so many times."""
    (project / "options.json").write_text(json.dumps({"asks": times, **options}))


def calls(runs: Runs, record: Any, *, beside: bool) -> list[dict[str, Any]]:
    every = [event.payload for event in runs.events(record, "llm_usage")]
    return [call for call in every if call.get("beside", False) == beside]


async def test_a_check_s_calls_are_in_the_record_and_in_the_status(
    runs: Runs, project: Path
) -> None:
    asking(project, 2)
    record = await runs.run([LOOK, MEND])
    assert record.status == "achieved"
    asked, answered = calls(runs, record, beside=True), calls(runs, record, beside=False)
    # The baseline, one after the change, and the last check with its contradictions' copy.
    assert len(asked) == 6
    assert len(answered) == 2
    assert record.tokens.total == 8 * ASK_TOKENS
    assert record.tokens.total == record.tokens.input + record.tokens.output
    assert record.cost_usd == pytest.approx(8 * ASK_TOKENS / 1000)
    told = runs.events(record, "iteration_complete")[-1].payload
    assert told["total_tokens"] == 8 * ASK_TOKENS
    assert told["cost_usd"] == pytest.approx(0.12)


async def test_a_project_that_passes_at_once_says_what_its_check_has_used(
    runs: Runs, project: Path
) -> None:
    asking(project, 1)
    (project / "a.txt").write_text("right\n")
    record = await runs.run([MEND])
    assert (record.status, record.iterations) == ("achieved", 0)
    assert record.tokens.total == 2 * ASK_TOKENS


@pytest.mark.parametrize("hides_refusals", [False, True])
@pytest.mark.parametrize("limit", [{"max_tokens": 30_000}, {"max_cost_usd": 0.3}])
async def test_a_check_that_may_go_beyond_the_limit_ends_the_run_and_a_higher_one_goes_on(
    runs: Runs, project: Path, limit: dict[str, Any], hides_refusals: bool
) -> None:
    asking(project, 3, hides_refusals=hides_refusals)
    # A greedy model uses all that it may: 16,384 tokens at most for an answer.
    prices = [3.0, 15.0]
    plugins = {"turns": {"turns": [LOOK, MEND], "greedy": True, "prices": prices}}
    record = await runs.run([], plugins=plugins, **limit)
    assert record.status == "budget"
    assert "turns, beside the agent's model" in record.reason
    assert record.needed is not None
    assert [record.needed.limit] == [*limit]
    assert record.next_step.startswith(f"retrai runs resume {record.id} --max-")
    assert record.tokens.total <= limit.get("max_tokens", 10**9)
    assert record.cost_usd <= limit.get("max_cost_usd", 10**9) + 1e-9
    paid = calls(runs, record, beside=True)
    assert len(paid) == 2

    higher = {name: 100 * value for name, value in limit.items()}
    ended = await runs.resume(record.id, **higher)
    assert ended.status == "achieved", ended.reason
    every = [event.payload for event in runs.events(record, "llm_usage")]
    assert ended.tokens.total == sum(call["total_tokens"] for call in every)
    assert ended.cost_usd == pytest.approx(sum(call["cost_usd"] for call in every))


async def test_a_later_check_that_cannot_be_paid_for_is_made_again_when_it_can(
    runs: Runs, project: Path
) -> None:
    question = "x" * 30_000
    asking(project, 1, question=question)
    may_need = len(question) // 3 + 1 + MIN_OUTPUT_TOKENS
    # Enough for the baseline, which leaves enough for the turn, and too little for a check then.
    record = await runs.run([MEND], max_tokens=may_need + ASK_TOKENS)
    assert record.status == "budget", record.reason
    assert record.iterations == 0
    assert record.tokens.total == 2 * ASK_TOKENS
    ended = await runs.resume(record.id, max_tokens=100_000)
    assert (ended.status, ended.iterations) == ("achieved", 1)
    assert len(calls(runs, record, beside=False)) == 1
    assert (runs.store.folder(record.id) / "put").read_text() == "a.txt\n"


async def test_a_price_that_nobody_knows_refuses_a_check_s_call_too(
    runs: Runs, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", lambda *_: None)
    asking(project, 1)
    record = await runs.run([MEND], max_cost_usd=1.0)
    assert record.status == "budget"
    assert "price is not known" in record.reason
    assert runs.events(record, "llm_usage") == []


async def test_a_plugin_s_own_thread_may_ask_as_well(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def run(self: Any, args: Any, context: Any) -> Any:
        model = context.chat_model().bind_tools([])
        said = await asyncio.to_thread(model.invoke, [HumanMessage("is it so?")])
        return scripted_plugins.ToolResult(said.text)

    monkeypatch.setattr(scripted_plugins.Look, "run", run)
    record = await runs.run([LOOK, MEND], max_tokens=100_000)
    assert record.status == "achieved"
    assert record.tokens.total == 3 * ASK_TOKENS


async def test_the_run_s_own_loop_is_told_that_it_would_wait_for_itself(tmp_path: Path) -> None:
    context = RunContext("r1", tmp_path, Any, "python", tmp_path)
    account = Account(context, Spending(Budget()), "judge", Any)
    with pytest.raises(RuntimeError, match="await `ainvoke`"):
        CountedModel(model=None, account=account).invoke("is it so?")
