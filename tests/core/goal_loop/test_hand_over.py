"""What a run that ends without success leaves to whoever goes on."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from retrai_core import RunRecord
from retrai_core.agents.goal_loop.prompt import LAST_ITERATION
from retrai_core.cli.render.summary import summary_lines

Runs = Any


def put(text: str, said: str = "") -> dict[str, Any]:
    call = {"name": "put", "args": {"path": "a.txt", "text": text}}
    return {"text": said, "calls": [call]}


def asked(runs: Runs, record: RunRecord) -> list[int]:
    """The requests, by number, whose last message asks for the hand-over."""
    return [n for n, texts in enumerate(runs.seen(record), 1) if LAST_ITERATION in texts[-1]]


async def test_the_model_writes_it_in_its_last_iteration(runs: Runs) -> None:
    words = "Hand-over:\nTried wrong and worse.\nLook at a.txt."
    turns = [put("wrong\n"), put("worse\n", f"One more try.\n{words}")]
    record = await runs.run(turns, max_iterations=2)
    assert record.status == "failed"
    assert asked(runs, record) == [2]
    assert record.hand_over is not None
    assert record.hand_over.by == "model"
    assert record.hand_over.text == "Tried wrong and worse.\nLook at a.txt."
    assert record.hand_over.command == f"retrai runs resume {record.id} -n 22"


async def test_a_last_answer_without_calls_is_one_by_itself(runs: Runs) -> None:
    turns = [put("wrong\n"), {"text": "Nothing I tried had an effect."}]
    record = await runs.run(turns, max_iterations=2)
    assert record.hand_over is not None
    assert record.hand_over.text == "Nothing I tried had an effect."


async def test_with_a_single_iteration_the_first_request_asks_for_it(runs: Runs) -> None:
    record = await runs.run([put("wrong\n", "Hand-over: see a.txt")], max_iterations=1)
    assert record.hand_over is not None
    assert record.hand_over.text == "see a.txt"


async def test_by_rule_it_has_what_was_tried_what_fails_and_where(runs: Runs) -> None:
    turns = [put("bad\n", "Let me see."), put("worse\n", "And now this.")]
    record = await runs.run(turns, max_iterations=2, stop_mode="hard")
    assert asked(runs, record) == []
    left = record.hand_over
    assert left is not None
    assert left.by == "rule"
    tried, _, rest = left.text.partition("Still fails:")
    fails, _, where = rest.partition("Where to look:")
    assert tried.count("put") == 2
    assert " -> " in tried
    assert record.evidence.after is not None
    assert record.evidence.after.reason in fails
    assert "a.txt (changed)" in where
    console = Console(width=200)
    with console.capture() as shown:
        for line in summary_lines(record):
            console.print(line)
    assert "hand-over" in shown.get()
    assert "a.txt (changed)" in shown.get()


async def test_a_run_that_goes_round_in_circles_leaves_one_too(runs: Runs) -> None:
    turns = [put("wrong\n") for _ in range(30)]
    record = await runs.run(turns, max_iterations=30)
    assert record.status == "stuck"
    assert record.hand_over is not None
    assert record.hand_over.by == "rule"


async def test_a_success_leaves_none_and_takes_the_earlier_one_away(runs: Runs) -> None:
    record = await runs.run([put("wrong\n"), put("right\n")], max_iterations=1)
    assert record.hand_over is not None
    ended = await runs.resume(record.id, max_iterations=5)
    assert ended.status == "achieved"
    assert ended.hand_over is None
