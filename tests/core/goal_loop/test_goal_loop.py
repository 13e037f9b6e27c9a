"""A run from its baseline to its outcome, with a model that plays given turns."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from retrai_core import Question
from retrai_core.errors import PluginError, UsageError, WorkspaceLockedError
from retrai_core.storage.snapshots import Snapshots

from ..running import reached, submitted

Runs = Any
"""The fixture's class, in conftest.py."""


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")


async def test_a_resumed_run_that_gets_no_further_keeps_its_last_evidence(runs: Runs) -> None:
    turns = [call("put", path="b.txt", text="broken\n"), {"error": "gone", "fatal": True}]
    record = await runs.run(turns, max_iterations=1)
    assert record.evidence.after is not None
    assert record.evidence.after.counts == {"failed": 2}
    resumed = await runs.resume(record.id, max_iterations=5)
    assert resumed.status == "error"
    assert resumed.evidence.after is not None
    assert resumed.evidence.after.counts == {"failed": 2}


async def test_options_found_with_the_goal_still_hold_when_the_run_goes_on(runs: Runs) -> None:
    found = runs.project / "options.json"
    found.write_text('{"fails_in_copies": true}')
    record = await runs.run([call("look", path="a.txt"), MEND], max_iterations=1)
    assert record.config["options"] == {"fails_in_copies": True}
    found.unlink()
    resumed = await runs.resume(record.id, max_iterations=2)
    assert resumed.status == "failed"
    assert "not on a clean copy" in resumed.reason


async def test_a_mended_project_ends_achieved_with_its_evidence(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt"), MEND])
    assert (record.status, record.exit_code) == ("achieved", 0)
    assert record.evidence.before is not None
    assert record.evidence.before.counts == {"failed": 1, "passed": 1}
    assert record.evidence.after is not None
    assert record.evidence.after.counts == {"passed": 2}
    assert record.changed_files == ["a.txt"]
    assert record.iterations == 2
    assert record.tokens.total == 30
    assert record.cost_usd == pytest.approx(0.03)
    assert record.versions["scripted-plugins"] == "1.0"
    assert record.next_step == f"retrai runs diff {record.id}"


async def test_a_model_that_does_nothing_useful_ends_failed(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt")], max_iterations=3)
    assert (record.status, record.exit_code) == ("failed", 1)
    assert record.reason.startswith("3 iterations used up")
    assert record.changed_files == []


async def test_a_project_that_passes_already_calls_no_model(runs: Runs) -> None:
    (runs.project / "a.txt").write_text("right\n")
    record = await runs.run([MEND])
    assert record.status == "achieved"
    assert runs.events(record, "llm_usage") == []


async def test_the_goal_is_found_from_the_project_and_said(runs: Runs) -> None:
    record = await runs.run([MEND], goal=None)
    assert (record.goal, record.evidence.found_by) == ("expected-text", "expected.txt")
    said = [event.payload["message"] for event in runs.events(record, "log")]
    assert "goal expected-text, found by expected.txt" in said


async def test_a_step_that_changes_nothing_re_runs_no_check(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt"), call("look", path="b.txt"), MEND])
    assert record.status == "achieved"
    # The baseline, the check of the fixed tree, and the one on a clean copy.
    assert len(runs.checks(record)) == 3
    remembered = [e.payload["remembered"] for e in runs.events(record, "goal_check")]
    assert remembered == [False, True, True, False, False]
    assert (record.checks_run, record.checks_remembered) == (3, 2)


async def test_the_last_check_is_made_on_a_clean_copy(runs: Runs) -> None:
    record = await runs.run([MEND], options={"fails_in_copies": True}, max_iterations=2)
    assert record.status == "failed"
    assert "not on a clean copy" in record.reason
    assert runs.checks(record)[-1] != str(runs.project)
    assert not Path(runs.checks(record)[-1]).exists()


async def test_every_event_kind_of_a_run_stands_in_its_log_in_order(runs: Runs) -> None:
    record = await runs.run([MEND])
    kinds = [event.kind for event in runs.events(record) if event.kind != "log"]
    assert kinds == [
        "goal_check",
        "step_start",
        "llm_usage",
        "step_start",
        "tool_call",
        "tool_result",
        "step_start",
        "goal_check",
        "goal_check",
        "iteration_complete",
        "run_end",
    ]
    end = runs.events(record, "run_end")[0].payload
    assert end["status"] == "achieved"
    assert end["exit_code"] == 0


async def test_what_a_broken_model_says_is_told_to_it_and_the_run_goes_on(runs: Runs) -> None:
    turns: list[dict[str, Any]] = [
        {"text": "", "malformed": [{"name": "put", "args": '{"path": '}]},
        call("no_such_tool", path="a.txt"),
        call("put", wrong="argument"),
        {"text": ""},
        {"error": "the stream broke off"},
        MEND,
    ]
    record = await runs.run(turns)
    assert record.status == "achieved"
    results = [event.payload for event in runs.events(record, "tool_result")]
    assert "not valid JSON" in results[0]["content"]
    assert "no tool 'no_such_tool'" in results[1]["content"]
    assert "path: Field required" in results[2]["content"]
    assert [result["error"] for result in results] == [True, True, True, False]
    last_told = "\n".join(runs.seen(record)[-1])
    assert "Your last answer was empty" in last_told
    assert "the stream broke off" in last_told


async def test_three_failing_model_calls_in_a_row_end_the_run_as_an_error(runs: Runs) -> None:
    record = await runs.run([{"error": "server is down"}])
    assert (record.status, record.exit_code, record.iterations) == ("error", 70, 3)
    assert "3 times in a row: server is down" in record.reason


async def test_a_model_that_never_answered_is_an_error_though_no_iteration_is_left(
    runs: Runs,
) -> None:
    record = await runs.run([{"error": "server is down"}], max_iterations=2)
    assert (record.status, record.iterations) == ("error", 2)
    assert record.reason == "the model call failed 2 times in a row: server is down"


async def test_a_model_call_that_cannot_succeed_ends_the_run_at_once(runs: Runs) -> None:
    record = await runs.run([{"error": "the key is wrong", "fatal": True}])
    assert (record.status, record.iterations) == ("error", 1)


async def test_a_model_that_stops_calling_tools_ends_the_run(runs: Runs) -> None:
    record = await runs.run([{"text": "I give up."}], max_iterations=50)
    assert record.status == "failed"
    assert "it last said: I give up." in record.reason
    assert record.iterations == 3


async def test_a_report_that_the_goal_is_impossible_never_ends_achieved(runs: Runs) -> None:
    turn = call("report_impossible", reason="a.txt must be both right and wrong")
    record = await runs.run([turn])
    assert (record.status, record.iterations) == ("failed", 1)
    assert "both right and wrong" in record.reason


async def test_reading_calls_run_side_by_side(runs: Runs) -> None:
    together = {"calls": [{"name": "meet", "args": {"people": 3}, "id": f"m{i}"} for i in range(3)]}
    record = await runs.run([together, MEND], tools=["meet", "put"])
    results = [event.payload["content"] for event in runs.events(record, "tool_result")]
    assert results[:3] == ["met", "met", "met"]


async def test_writing_calls_run_one_by_one_in_order(runs: Runs) -> None:
    texts = ["first", "second", "right"]
    calls = [{"name": "put", "args": {"path": "a.txt", "text": t}, "id": t} for t in texts]
    record = await runs.run([{"calls": calls}])
    assert record.status == "achieved"
    assert (runs.project / "a.txt").read_text() == "right"


async def test_a_long_result_is_cut_with_a_note(runs: Runs) -> None:
    record = await runs.run(
        [call("burst", chars=50_000), MEND],
        tools=["burst", "put"],
        plugins={"burst": {"max_chars": 1000}},
    )
    result = runs.events(record, "tool_result")[0].payload
    assert result["cut_chars"] == 49_000
    assert len(result["content"]) == 500, "an event has the beginning"
    (shown,) = runs.tool_results(record)[:1]
    assert "49000 of 50000 characters cut here" in shown
    assert len(shown) < 1100


async def test_a_tool_that_never_returns_is_ended_at_its_limit(runs: Runs) -> None:
    record = await runs.run(
        [call("hang"), MEND], tools=["hang", "put"], plugins={"hang": {"limit_s": 0.2}}
    )
    assert record.status == "achieved"
    assert runs.events(record, "tool_result")[0].payload["content"] == "hang was ended after 0.2 s"


async def test_the_prompt_shows_what_was_tried(runs: Runs) -> None:
    turns = [call("put", path="a.txt", text="try one"), call("look", path="a.txt"), MEND]
    record = await runs.run(turns)
    told = runs.seen(record)[-1]
    failed = next(text for text in told if text.startswith("[iteration 1 of 6]"))
    assert "1 of 2 files are wrong" in failed
    assert "You tried: put a.txt" in failed
    assert "try another approach" in failed
    assert told[-1].startswith("[iteration 2 of 6] Nothing was changed by: look a.txt.")
    # What was sent once is sent again as it was, so that a provider's cache serves.
    for earlier, later in itertools.pairwise(runs.seen(record)):
        assert later[: len(earlier)] == earlier


async def test_what_was_tried_is_repeated_once_its_message_is_left_out(runs: Runs) -> None:
    looks = {
        "calls": [{"id": f"l{n}", "name": "look", "args": {"path": "a.txt"}} for n in range(70)]
    }
    turns = [call("put", path="a.txt", text="try one"), looks, MEND]
    record = await runs.run(turns)
    told = runs.seen(record)[-1]
    assert not any("You tried: put a.txt" in text for text in told)
    assert "put a.txt -> 1 of 2 files are wrong" in told[-1]


async def test_a_person_can_let_a_run_go_on_or_end_it(runs: Runs) -> None:
    asked: list[Question] = []

    async def approve(question: Question) -> str:
        asked.append(question)
        return "yes"

    async def refuse(question: Question) -> str:
        return "no"

    turns = [call("put", path="a.txt", text="not yet"), MEND]
    record = await runs.run(turns, ask=approve, hitl_enabled=True)
    assert record.status == "achieved"
    assert [question.data["reason"] for question in asked] == ["1 of 2 files are wrong"]
    assert len(runs.events(record, "human_check_required")) == 1
    answer = runs.events(record, "human_check_response")[0].payload
    told = {"question_id": asked[0].id, "decision": "approve", "text": "", "approved": True}
    assert answer == told

    (runs.project / "a.txt").write_text("wrong\n")
    record = await runs.run(turns, ask=refuse, hitl_enabled=True)
    assert (record.status, record.exit_code, record.iterations) == ("aborted", 3, 1)


async def test_a_tool_whose_summary_or_validator_raises_ends_no_run(runs: Runs) -> None:
    turns = [call("burst", chars=0), call("burst", chars=-1), MEND]
    record = await runs.run(turns, tools=["burst", "put"])
    assert (record.status, record.iterations) == ("achieved", 3)
    zero, negative, _ = (event.payload for event in runs.events(record, "tool_result"))
    assert not zero["error"]
    assert negative["error"]
    assert "RuntimeError: fewer than nothing" in negative["content"]


async def test_calls_that_run_side_by_side_are_asked_about_one_at_a_time(runs: Runs) -> None:
    open_questions = 0

    async def approve(question: Question) -> str:
        nonlocal open_questions
        open_questions += 1
        assert open_questions == 1, "a terminal can show one question only"
        await asyncio.sleep(0)
        open_questions -= 1
        return "yes"

    looks = [{"id": f"look{i}", "name": "look", "args": {"path": "a.txt"}} for i in range(3)]
    turns = [{"text": "looking", "calls": looks}]
    asking = {"hitl_enabled": True, "plugins": {"asks": {"about": "look"}}, "max_iterations": 1}
    record = await runs.run(turns, ask=approve, **asking)
    assert (record.status, record.iterations) == ("failed", 1)
    assert [event.payload["error"] for event in runs.events(record, "tool_result")] == [False] * 3


async def test_a_second_run_in_the_project_is_refused_and_names_the_first(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([call("hang")], tools=["hang"])) as first:
        await reached(first, "tool_call")
        with pytest.raises(WorkspaceLockedError, match=first.id):
            await runs.run([MEND])
        assert [record.id for record in await runs.store.list()] == [first.id]
        await first.cancel("interrupted")
        ended = await first.result()
    assert (ended.status, ended.exit_code) == ("interrupted", 130)
    assert ended.next_step == f"retrai runs resume {first.id}"


async def test_an_interrupted_run_can_be_resumed(runs: Runs) -> None:
    turns = [call("put", path="a.txt", text="half"), call("hang"), MEND]
    record = await runs.stopped_at("hang", turns, tools=["hang", "put"])
    assert record.status == "interrupted"
    ended = await runs.resume(record.id[:6])
    assert ended.status == "achieved"
    assert ended.iterations == 3
    assert len((runs.store.folder(record.id) / "put").read_text().splitlines()) == 2


async def test_an_interrupted_run_goes_on_to_the_limit_that_it_is_resumed_with(runs: Runs) -> None:
    turns = [call("put", path="a.txt", text="half"), call("hang"), MEND]
    record = await runs.stopped_at("hang", turns, tools=["hang", "put"], max_iterations=2)
    assert record.status == "interrupted"
    ended = await runs.resume(record.id, max_iterations=5)
    assert (ended.status, ended.iterations) == ("achieved", 3)


async def test_a_failed_run_goes_on_with_more_iterations(runs: Runs) -> None:
    turns = [call("look", path="a.txt"), call("look", path="b.txt"), MEND]
    record = await runs.run(turns, max_iterations=2)
    assert record.status == "failed"
    with pytest.raises(UsageError, match="used its 2 iterations"):
        await runs.resume(record.id)
    ended = await runs.resume(record.id, max_iterations=5)
    assert (ended.status, ended.iterations) == ("achieved", 3)
    with pytest.raises(UsageError, match="has ended: achieved"):
        await runs.resume(record.id)


async def test_what_the_run_changed_can_be_shown_between_iterations(runs: Runs) -> None:
    turns = [call("put", path="new.txt", text="one\n"), MEND]
    record = await runs.run(turns)
    snapshots = Snapshots(runs.store.folder(record.id), runs.project)
    whole = snapshots.diff()
    assert all(line in whole for line in ("+right", "-wrong", "+one"))
    assert "+one" not in snapshots.diff(1, 2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"goal": "expected-txt"}, "expected-text"),
        ({"tools": ["putt"]}, "did you mean `put`"),
        ({"options": {"fails_in_copy": True}}, "did you mean fails_in_copies"),
        ({"options": {"fails_in_copies": "perhaps"}}, "fails_in_copies of the goal expected-text"),
        ({"sandbox": "loca"}, "local"),
        ({"agent": "goal_loop"}, "goal-loop"),
        ({"memory": "fil"}, "no memory is called `fil`"),
    ],
)
async def test_an_unknown_name_is_said_with_the_nearest_known(
    runs: Runs, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises((UsageError, PluginError)) as caught:
        await runs.run([MEND], **settings)
    assert says in str(caught.value)
    assert await runs.store.list() == []


async def test_a_missing_interpreter_is_said_before_the_first_step(runs: Runs) -> None:
    with pytest.raises(UsageError, match="no-such-python"):
        await runs.run([MEND], python="no-such-python")
