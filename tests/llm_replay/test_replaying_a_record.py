"""The model makes the recorded decisions, each once, wherever the run stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from retrai_core import AgentEvent, ModelError

WINDOW = 60


def answer_event(text: str, *calls: dict[str, Any], iteration: int = 0) -> AgentEvent:
    payload = {"model": "m", "text": text, "tool_calls": list(calls)}
    return AgentEvent("llm_usage", "r0", iteration, payload)


async def drive(model: Any, answers: int, window: int = WINDOW) -> list[AIMessage]:
    """Ask the model as the loop does: only the newest messages, each call answered."""
    bound = model.bind_tools([])
    messages: list[BaseMessage] = []
    said: list[AIMessage] = []
    for _ in range(answers):
        shown = [SystemMessage("s"), HumanMessage("goal"), *messages[-window:]]
        answer = await bound.ainvoke(shown)
        said.append(answer)
        messages.append(answer)
        messages += [ToolMessage("done", tool_call_id=call["id"]) for call in answer.tool_calls]
        messages.append(HumanMessage("the check still fails"))
    return said


async def test_a_run_log_is_replayed_call_by_call(
    model_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    folder = write_run(
        [
            AgentEvent("step_start", "r0", 0, {"step": "plan"}),
            answer_event("look", {"id": "a", "name": "file_read", "args": {"path": "a.py"}}),
            answer_event(
                "fix",
                {"id": "b", "name": "file_patch", "args": {"path": "a.py", "old": "1"}},
                {"id": "c", "name": "run_pytest", "args": {}},
                iteration=1,
            ),
        ]
    )
    first, second = await drive(model_of(folder), 2)
    assert first.content == "look"
    assert [(call["name"], call["args"]) for call in first.tool_calls] == [
        ("file_read", {"path": "a.py"})
    ]
    assert [call["name"] for call in second.tool_calls] == ["file_patch", "run_pytest"]


async def test_call_ids_are_unique_even_where_the_record_repeats_them(
    model_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    call = {"id": "call_0", "name": "file_list", "args": {}}
    folder = write_run([answer_event("", call, iteration=n) for n in range(3)])
    answers = await drive(model_of(folder), 3)
    ids = [call["id"] for answer in answers for call in answer.tool_calls]
    assert len(set(ids)) == 3


async def test_nothing_is_billed(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path]
) -> None:
    (answer,) = await drive(model_of(write_trajectory("ls")), 1)
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 0


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(length=st.integers(1, 40), stop=st.integers(0, 40), window=st.integers(2, 8))
async def test_a_resumed_run_goes_on_at_the_next_decision(
    model_of: Callable[..., Any],
    write_trajectory: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
    length: int,
    stop: int,
    window: int,
) -> None:
    record = write_trajectory(*[f"echo {number}" for number in range(length)])
    run_dir = tmp_path_factory.mktemp("run")
    before = await drive(model_of(record, run_dir=run_dir), min(stop, length), window)
    resumed = model_of(record, run_dir=run_dir)
    answer = await resumed.ainvoke([SystemMessage("s"), *before[-1:], HumanMessage("go on")])
    expected = [f"echo {stop}"] if stop < length else []
    assert [call["args"]["command"] for call in answer.tool_calls] == expected


async def test_a_resumed_run_keeps_its_record_when_the_file_is_gone(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path], tmp_path: Path
) -> None:
    record = write_trajectory("ls", "pwd")
    (first,) = await drive(model_of(record, run_dir=tmp_path / "kept"), 1)
    record.unlink()
    resumed = model_of(record, run_dir=tmp_path / "kept")
    answer = await resumed.ainvoke([first])
    assert answer.tool_calls[0]["args"] == {"command": "pwd"}


async def test_a_used_up_record_is_said_plainly_without_tool_calls(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path]
) -> None:
    record = write_trajectory("ls")
    *_, second, third = await drive(model_of(record), 3)
    assert "used up" in str(second.content)
    assert not second.tool_calls
    # `add_messages` replaces a message of the same id, which would lose the second one.
    assert second.id != third.id


async def test_a_used_up_record_ends_the_run_where_the_user_wants_that(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path]
) -> None:
    model = model_of(write_trajectory("ls"), on_end="error")
    with pytest.raises(ModelError, match="used up") as caught:
        await drive(model, 2)
    assert caught.value.fatal


async def test_an_empty_answer_does_not_hold_the_replay(
    model_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    folder = write_run([answer_event(""), answer_event("second", iteration=1)])
    first, second = await drive(model_of(folder), 2)
    # The loop keeps no empty answer, so one must say that it was empty.
    assert first.text
    assert second.content == "second"


async def test_the_call_that_hands_in_the_work_ends_the_record_and_is_not_made(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path]
) -> None:
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
    record = write_trajectory("ls", submit, "never recorded as run")
    _, handed_in, end = await drive(model_of(record), 3)
    assert handed_in.content == "step 1"
    assert not handed_in.tool_calls
    assert "used up" in str(end.content)


async def test_an_answer_that_a_kill_cut_off_is_replayed_once(
    model_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    lost = {"id": "a", "name": "bash_exec", "args": {"command": "make"}}
    again = {"id": "b", "name": "bash_exec", "args": {"command": "make"}}
    folder = write_run(
        [
            answer_event("first try", lost),
            answer_event("asked again after the resume", again),
            AgentEvent("tool_call", "r0", 0, {"id": "b", "name": "bash_exec", "args": {}}),
        ]
    )
    first, second = await drive(model_of(folder), 2)
    assert first.content == "asked again after the resume"
    assert "used up" in str(second.content)


async def test_tools_and_arguments_take_their_names_in_this_run(
    model_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    folder = write_run(
        [
            answer_event(
                "",
                {"id": "a", "name": "edit", "args": {"file": "a.py"}},
                {"id": "b", "name": "bash", "args": {"command": "ls"}},
                {"id": "c", "name": "of_another_plugin", "args": {"x": 1}},
            )
        ]
    )
    model = model_of(
        folder, tool_names={"edit": "file_patch"}, argument_names={"file_patch": {"file": "path"}}
    )
    (answer,) = await drive(model, 1)
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [
        ("file_patch", {"path": "a.py"}),
        ("bash_exec", {"command": "ls"}),
        ("of_another_plugin", {"x": 1}),
    ]
