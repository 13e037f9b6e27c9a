"""An agent without a goal: what its runs have, and what they do without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrai_core.errors import UsageError, WorkspaceLockedError
from retrai_core.storage.snapshots import Snapshots
from retrai_core.workspace.lock import WorkspaceLock

Runs = Any
"""The fixture's class, in conftest.py."""

LOOK = {"name": "look", "args": {"path": "a.txt"}}
TALK = {"text": "It says wrong."}
PUT = {"name": "put", "args": {"path": "a.txt", "text": "right\n"}}


def calls(*wanted: dict[str, Any]) -> dict[str, Any]:
    """One turn with these calls."""
    return {"text": "", "calls": [{"id": f"c{i}", **call} for i, call in enumerate(wanted)]}


async def talk(runs: Runs, *turns: dict[str, Any], **settings: Any) -> Any:
    given = {"question": "What does a.txt say?", **settings.pop("input", {})}
    return await runs.run(list(turns), agent="talk", input=given, **settings)


async def test_it_ends_answered_with_its_output_and_no_verdict(runs: Runs) -> None:
    record = await talk(runs, calls(LOOK), TALK)
    assert (record.status, record.exit_code, record.goals) == ("answered", 0, [])
    assert (record.reason, record.output) == ("it has talked", "It says wrong.")
    assert record.input == {"question": "What does a.txt say?"}
    assert (record.tokens.total, record.cost_usd) == (30, pytest.approx(0.03))
    assert record.checks_run == 0
    told = [(e.kind, e.payload.get("node")) for e in runs.events(record) if e.kind != "log"]
    assert told == [
        ("step_start", "begin"),
        ("progress", None),
        ("step_start", "circle"),
        ("step_start", "think"),
        ("llm_usage", None),
        ("step_start", "act"),
        ("tool_call", None),
        ("tool_result", None),
        ("step_start", "think"),
        ("llm_usage", None),
        ("run_end", None),
    ]
    assert runs.events(record, "llm_usage")[1].payload["text"] == "It says wrong."


async def test_a_run_that_only_reads_leaves_the_project_to_others(runs: Runs) -> None:
    with WorkspaceLock(runs.project, runs.store.state, "another"):
        record = await talk(runs, calls(LOOK), TALK)
    assert record.status == "answered"
    assert not Snapshots(runs.store.folder(record.id), runs.project).all()


async def test_what_its_tools_may_change_is_locked_and_kept(runs: Runs) -> None:
    with (
        WorkspaceLock(runs.project, runs.store.state, "another"),
        pytest.raises(WorkspaceLockedError, match="another"),
    ):
        await talk(runs, calls(PUT), TALK, tools=["put"])
    assert await runs.store.list() == []
    record = await talk(runs, calls(PUT), TALK, tools=["put"])
    assert (record.status, record.changed_files) == ("answered", ["a.txt"])
    assert record.next_step == f"retrai runs diff {record.id}"
    diff = Snapshots(runs.store.folder(record.id), runs.project).diff()
    assert "-wrong\n+right\n" in diff


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"question": ""}, "question of the agent talk: string should have at least 1 character"),
        ({"qestion": "x", "question": "x"}, "qestion: the agent talk takes question, asks, data"),
        ({"asks": "x"}, "asks of the agent talk: "),
    ],
)
async def test_a_wrong_input_is_a_usage_error_that_names_the_field(
    runs: Runs, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError) as raised:
        await talk(runs, TALK, input=given)
    assert told in str(raised.value)
    assert await runs.store.list() == []


async def test_the_setting_task_is_the_goal_loops_input(runs: Runs) -> None:
    for settings in ({"task": "fix it"}, {"input": {"task": "fix it"}}):
        record = await runs.run([{"text": "no"}], max_iterations=1, **settings)
        assert (record.task, record.input) == ("fix it", {"task": "fix it"})
        assert "fix it" in runs.seen(record)[0][1]


async def test_its_model_keeps_to_the_budget(runs: Runs) -> None:
    record = await talk(runs, calls(LOOK), TALK, max_tokens=5)
    assert (record.status, record.exit_code) == ("budget", 6)
    assert record.needed is not None
    assert record.next_step.startswith(f"retrai runs resume {record.id} --max-tokens ")
    more = await runs.resume(record.id, max_tokens=100_000)
    assert (more.status, more.output) == ("answered", "It says wrong.")


async def test_an_answer_that_is_no_json_is_the_agents_error(runs: Runs) -> None:
    record = await talk(runs, TALK, input={"data": [1]})
    assert record.status == "error"
    assert "the agent talk of scripted-plugins 1.0 failed: result() returned data" in record.reason


async def test_a_question_is_answered_or_nobody_can_be_asked(runs: Runs) -> None:
    async def answer(question: Any) -> str:
        return {"first?": "yes", "second/part?": "no"}[question.text]

    asks = {"asks": ["first", "second/part"]}
    record = await talk(runs, TALK, input=asks, ask=answer, hitl_enabled=True)
    assert record.data["told"] == ["approve", "reject"]
    record = await talk(runs, TALK, input=asks)
    assert (record.status, record.data["told"]) == ("answered", [None, None])


async def test_its_tool_calls_go_through_the_gates(runs: Runs) -> None:
    asking = {"plugins": {"asks": {"about": "look"}}}
    record = await talk(runs, calls(LOOK), TALK, **asking)
    [result] = runs.tool_results(record)
    assert result == "refused: to be sure, and nobody can be asked here"
    assert record.refused == ["look a.txt: to be sure, and nobody can be asked here"]


async def test_a_malformed_call_is_a_result_for_the_model(runs: Runs) -> None:
    bad = {"text": "", "malformed": [{"name": "look", "args": '{"path": '}]}
    record = await talk(runs, bad, TALK)
    assert record.status == "answered"
    assert "not valid JSON" in runs.tool_results(record)[0]


async def test_a_secret_reaches_neither_the_model_nor_the_journal(runs: Runs) -> None:
    secret = "sk-live-4f9a8b7c6d5e4f3a2b1c"
    (runs.project / ".env").write_text(f"PAY_API_KEY={secret}\n")
    (runs.project / "a.txt").write_text(f"key {secret}\n")
    record = await talk(runs, calls(LOOK), TALK, input={"question": f"What is {secret}?"})
    assert secret not in str(runs.seen(record))
    assert secret not in str(runs.tool_results(record))


async def test_each_result_says_which_files_the_call_touched(runs: Runs) -> None:
    other = {"name": "look", "args": {"path": "b.txt"}}
    record = await talk(runs, calls(LOOK, other, PUT), TALK, tools=["look", "put"])
    told = {e.payload["id"]: e.payload for e in runs.events(record, "tool_result")}
    assert [told[each]["locations"] for each in ("c0", "c1", "c2")] == [
        [{"path": "a.txt"}],
        [{"path": "b.txt"}],
        [{"path": "a.txt"}],
    ]
    assert [told[each]["changes"] for each in ("c0", "c1")] == [[], []]
    [change] = told["c2"]["changes"]
    assert change["path"] == "a.txt"
    assert "-wrong\n+right\n" in change["diff"]


async def test_a_run_that_is_stopped_among_its_calls_makes_none_twice(runs: Runs) -> None:
    hang = {"name": "hang", "args": {}}
    settings = {"agent": "talk", "input": {"question": "?"}, "tools": ["put", "hang"]}
    record = await runs.stopped_at("hang", [calls(PUT, hang), TALK], **settings)
    assert record.status == "interrupted"
    ended = await runs.resume(record.id)
    assert ended.status == "answered"
    assert ended.data["note"] == "resumed before act"
    assert (runs.store.folder(record.id) / "put").read_text().splitlines() == ["a.txt"]
    assert "it was not run again" in runs.tool_results(ended)[1]
    assert len(runs.events(ended, "llm_usage")) == 2
    replayed = [e.payload["replayed"] for e in runs.events(ended, "tool_result")]
    assert replayed == [False, True, False]


async def test_the_same_call_of_a_later_visit_is_made_again(runs: Runs) -> None:
    record = await talk(runs, calls(PUT), calls(PUT), TALK, tools=["put"])
    assert (runs.store.folder(record.id) / "put").read_text().splitlines() == ["a.txt"] * 2
    journal = (runs.store.folder(record.id) / "journal.jsonl").read_text().splitlines()
    begun = [json.loads(line)["call"] for line in journal if "begin" in line]
    assert len(set(begun)) == 2


async def test_its_graph_may_run_on_where_it_was_given_more_meanwhile(runs: Runs) -> None:
    record = await talk(runs, TALK, input={"circles": 150}, max_iterations=1)
    assert (record.status, record.output) == ("answered", "It says wrong.")


async def test_a_run_that_has_a_goal_all_the_same_ends_by_its_verdict(runs: Runs) -> None:
    record = await talk(runs, calls(PUT), TALK, goal="expected-text", tools=["put"])
    assert (record.status, record.goal) == ("achieved", "expected-text")
    assert record.output == "It says wrong."
    (runs.project / "a.txt").write_text("wrong\n")
    record = await talk(runs, TALK, goal="expected-text")
    assert (record.status, record.exit_code) == ("failed", 1)
    assert record.reason == "it has talked; 1 of 2 files are wrong"
