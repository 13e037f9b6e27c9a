"""Limits in money hold against a price list, whatever the model uses, and a raised one goes on from
where the money ended; nothing is counted twice."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from retrai_core import ModelError
from retrai_core.cli.main import main

Runs = Any
PRICES = {
    "dear": [15.0, 75.0],
    "middling": [3.0, 15.0],
    "cheap out": [3.0, 0.0],
    "free": [0.0, 0.0],
}
"""US dollars for a million tokens, in and out."""
LOOKS = [
    {"text": "looking", "calls": [{"name": "look", "args": {"path": f"missing{n}.txt"}}]}
    for n in range(30)
]
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


def model(turns: list[Any], **options: Any) -> dict[str, Any]:
    """The settings of a run whose model plays `turns`."""
    return {"turns": {"turns": turns, **options}}


def spent(runs: Runs, record: Any, prices: list[float]) -> float:
    """What every model call in the log costs by the price list."""
    calls = [event.payload for event in runs.events(record, "llm_usage")]
    return (
        sum(c["prompt_tokens"] * prices[0] + c["completion_tokens"] * prices[1] for c in calls)
        / 1e6
    )


def suggested(record: Any, setting: str) -> float:
    """The figure in the run's next step, which names nothing else."""
    before, _, figure = record.next_step.partition(f" {setting} ")
    assert before == f"retrai runs resume {record.id}"
    return float(figure)


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("limit", [0.001, 0.05, 0.4, 2.0])
async def test_a_model_that_uses_all_it_may_never_passes_the_limit(
    runs: Runs, name: str, limit: float
) -> None:
    plugins = model(LOOKS, greedy=True, prices=PRICES[name])
    record = await runs.run([], plugins=plugins, max_cost_usd=limit, max_iterations=8)
    assert record.status in ("budget", "failed")
    assert record.cost_usd == pytest.approx(spent(runs, record, PRICES[name]))
    assert record.cost_usd <= limit + 1e-9
    if record.status == "budget":
        assert f"${limit:g}" in record.reason
        assert suggested(record, "--max-cost") >= 2 * limit
    else:
        assert record.iterations == 8


@pytest.mark.parametrize("limit", [500, 20_000, 60_000])
async def test_a_limit_in_tokens_is_never_passed_either(runs: Runs, limit: int) -> None:
    plugins = model(LOOKS, greedy=True)
    record = await runs.run([], plugins=plugins, max_tokens=limit, max_iterations=8)
    assert record.status == "budget"
    assert record.tokens.total <= limit
    assert record.tokens.total == record.tokens.input + record.tokens.output
    assert suggested(record, "--max-tokens") >= 2 * limit


@pytest.mark.parametrize(
    ("name", "setting", "limit"),
    [
        ("max_tokens", "--max-tokens", 10),
        ("max_tokens", "--max-tokens", 0),
        ("max_cost_usd", "--max-cost", 0.0),
        ("max_cost_usd", "--max-cost", 0.000_001),
        ("max_time_s", "--max-time", 0.0),
        ("max_time_s", "--max-time", 0.000_01),
    ],
)
@pytest.mark.parametrize("price", ["dear", "cheap out"])
async def test_the_limit_that_the_next_step_names_lets_the_next_call_be_made(
    runs: Runs, name: str, setting: str, limit: float, price: str
) -> None:
    plugins = model([MEND], prices=PRICES[price])
    record = await runs.run([], plugins=plugins, **{name: limit})
    assert (record.status, runs.events(record, "llm_usage")) == ("budget", [])
    more = suggested(record, setting)
    assert more > limit
    whole = int(more) if name == "max_tokens" else more
    assert (await runs.resume(record.id, **{name: whole})).status == "achieved"


def test_a_raised_limit_goes_on_and_every_call_is_billed_once(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RETRAI_STATE_DIR", str(runs.store.state))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(runs.store.state))
    monkeypatch.setenv("RETRAI_TRUST", "1")
    prices = PRICES["middling"]
    settings = {
        "plugins": model([*LOOKS[:4], MEND], greedy=True, prices=prices),
        "memory": "none",
        "sandbox": "local",
        "python": sys.executable,
    }
    # JSON is YAML.
    (runs.project / ".retrai.yml").write_text(json.dumps(settings))

    def call(*args: str) -> tuple[int, dict[str, Any]]:
        code = main([*args, "--json"])
        return code, json.loads(capsys.readouterr().out)

    code, first = call("run", "-C", str(runs.project), "-m", "turns", "--max-cost", "0.6")
    assert (code, first["status"]) == (6, "budget")
    record = asyncio.run(runs.store.load(first["id"]))
    paid = len(runs.events(record, "llm_usage"))
    assert 0 < paid < 5

    # Without more money no call is made, and nothing is billed.
    code, same = call("runs", "resume", first["id"])
    assert (code, same["status"], same["cost_usd"]) == (6, "budget", first["cost_usd"])
    assert len(runs.events(record, "llm_usage")) == paid

    code, ended = call("runs", "resume", first["id"], "--max-cost", "5")
    assert (code, ended["status"]) == (0, "achieved")
    assert ended["config"]["max_cost_usd"] == 5
    calls = runs.events(record, "llm_usage")
    assert len(calls) > paid
    assert ended["cost_usd"] == pytest.approx(spent(runs, record, prices))
    assert first["cost_usd"] < ended["cost_usd"] <= 5
    assert ended["tokens"]["total"] == sum(event.payload["total_tokens"] for event in calls)


async def test_a_price_that_nobody_knows_refuses_a_limit_in_money_before_the_first_call(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", lambda *_: None)
    record = await runs.run(LOOKS, max_cost_usd=1.0)
    assert record.status == "budget"
    assert "price is not known" in record.reason
    again = f"retrai runs resume {record.id} --max-cost none"
    assert record.next_step == f"{again} --max-tokens 100000"
    assert runs.events(record, "llm_usage") == []
    ended = await runs.resume(record.id)
    assert (ended.status, ended.next_step) == ("budget", record.next_step)


def test_the_next_step_for_a_price_that_nobody_knows_can_be_typed_as_it_is(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import scripted_plugins

    monkeypatch.setenv("RETRAI_STATE_DIR", str(runs.store.state))
    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", lambda *_: None)
    record = asyncio.run(runs.run([MEND], max_cost_usd=1.0))
    typed = record.next_step.removeprefix("retrai ").split()
    code = main([*typed, "--json"])
    ended = json.loads(capsys.readouterr().out)
    assert (code, ended["status"]) == (0, "achieved")
    assert (ended["config"]["max_cost_usd"], ended["config"]["max_tokens"]) == (None, 100_000)
    assert ended["needed"] is None


async def test_a_limit_in_tokens_that_holds_already_is_not_suggested_anew(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", lambda *_: None)
    record = await runs.run([MEND], max_cost_usd=1.0, max_tokens=200_000)
    assert record.next_step == f"retrai runs resume {record.id} --max-cost none"


async def test_the_next_step_does_not_hang_on_the_wording_and_outlives_the_process(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from retrai_core.agents import budget
    from retrai_core.runs.run_end import finish

    def reworded(*args: Any) -> Any:
        return replace(said(*args), problem="enough")

    said = budget.allowance
    monkeypatch.setattr("retrai_core.agents.counted_model.allowance", reworded)
    record = await runs.run([MEND], max_tokens=10)
    assert record.reason == "enough"
    more = suggested(record, "--max-tokens")
    kept = await runs.store.load(record.id)
    finish(kept, "budget", "whatever it says")
    assert kept.next_step == record.next_step
    assert kept.needed is not None
    assert 10 < kept.needed.at_least <= more


async def test_a_price_that_takes_long_to_look_up_does_not_stop_the_event_loop(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    loop = asyncio.get_running_loop()

    def looked_up(*_: Any) -> float:
        """On the loop itself this would wait in vain."""
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, 0.01), loop).result(30)

    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", looked_up)
    record = await runs.run([MEND], max_cost_usd=1.0)
    assert (record.status, record.cost_usd) == ("achieved", 0.01)


async def test_an_answer_is_kept_when_its_price_cannot_be_found_out(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    def broken(*_: Any) -> float:
        raise ModelError("the price list has ended")

    monkeypatch.setattr(scripted_plugins.Scripted, "cost_usd", broken)
    record = await runs.run([MEND])
    assert (record.status, record.cost_usd) == ("achieved", None)
    told = [event.payload["message"] for event in runs.events(record, "log")]
    assert any("the price list has ended" in message for message in told)
