"""What every request of a run begins with: the same bytes, also of a run that is resumed."""

from __future__ import annotations

from typing import Any

import pytest

from retrai_core import Strategy
from retrai_core.agents.goal_loop.prompt import tool_list
from retrai_core.contracts.tool import Tool

from ..running import submitted

Runs = Any
"""The fixture's class, in conftest.py."""


def put(text: str) -> dict[str, Any]:
    return {"calls": [{"name": "put", "args": {"path": "a.txt", "text": text}}]}


def prompts(runs: Runs, record: Any) -> list[str]:
    return [messages[0] for messages in runs.seen(record)]


async def test_the_prompt_names_the_project_the_limit_and_the_tools(runs: Runs) -> None:
    record = await runs.run([put("right")], max_iterations=7)
    told = prompts(runs, record)[0]
    assert f"The project's folder is {runs.project}." in told
    assert "The limit is 7 iterations" in told
    for name in ("look", "put", "shell", "report_impossible"):
        assert f"\n- {name}: " in told
    assert "- meddle:" not in told
    assert "Run scripts" in told
    assert "Act instead of saying that you cannot" in told


async def test_the_prompt_stays_the_same_through_a_run_and_when_it_is_resumed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await runs.run([put("one"), put("two"), put("right")], max_iterations=2)
    assert record.status == "failed"

    async def other(*_: object) -> list[Strategy]:
        return [Strategy("expected-text", "something new", 1, 0.5)]

    # What was learnt meanwhile is for the next run.
    monkeypatch.setattr("retrai_core.runs.system_prompt._recall", other)
    record = await runs.resume(record.id, max_iterations=5)
    assert record.status == "achieved"
    assert len(prompts(runs, record)) == 3
    assert len(set(prompts(runs, record))) == 1
    assert "[iteration 2 of 2]" in runs.seen(record)[-1][-1]


async def test_the_prompt_is_made_anew_where_the_tools_are_other_ones(runs: Runs) -> None:
    record = await runs.run([put("one"), put("right")], max_iterations=1)
    folder = runs.store.folder(record.id)
    record.config["tools"] = ["put"]
    record.save(folder)
    record = await runs.resume(record.id, max_iterations=3)
    assert record.status == "achieved"
    first, second = prompts(runs, record)
    assert "- look:" in first
    assert "- look:" not in second


async def test_a_prompt_that_cannot_be_kept_ends_no_run(runs: Runs) -> None:
    config = runs.config([put("right")])
    async with submitted(runs.store, config) as run:  # its task has not begun yet
        (run.folder / "system_prompt.txt").mkdir()
        record = await run.result()
    assert record.status == "achieved"


def test_a_long_description_takes_one_short_line() -> None:
    class Talks(Tool):
        name = "server.talks"
        description = "Talk\n\nto <someone>" + " and on" * 50 + ". Twice."

        async def run(self, args: Any, context: Any) -> Any: ...

    line = tool_list([Talks(None, None)]).splitlines()  # type: ignore[arg-type] # no run is needed
    assert len(line) == 2
    assert line[1].startswith("- server__talks: Talk to <someone> and on")
    assert len(line[1]) < 130
