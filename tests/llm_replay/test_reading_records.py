"""Every kind of record is read, and what is none is said in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, RunContext, UsageError
from retrai_llm_replay.provider import ReplayOptions, ReplayProvider
from retrai_llm_replay.reading import read_recording

SHARED = Path(__file__).parents[3] / "shared" / "data" / "trajectories"


def usage(iteration: int, command: str) -> AgentEvent:
    call = {"id": f"c{iteration}", "name": "bash_exec", "args": {"command": command}}
    payload = {"text": "", "tool_calls": [call]}
    return AgentEvent("llm_usage", "r0", iteration, payload)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "no answer of a model"),
        ("{}", "no `messages`"),
        ("[1, 2]", "line 1 is not an event"),
        ("hello\n", "line 1 is not an event"),
        ('{"messages": 3}', "messages: "),
        ('{"messages": [{"role": "user", "content": "hi"}]}', "no answer of a model"),
        ('{"messages": [{"role": "assistant", "tool_calls": [{}]}]}', "messages.0.tool_calls.0"),
        ('{"kind": "llm_usage"}', "line 1 is not an event"),
        ("\x00\x01", "line 1 is not an event"),
    ],
)
def test_a_file_that_is_no_record_is_refused_in_one_line(
    tmp_path: Path, content: str, problem: str
) -> None:
    path = tmp_path / "thing.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_recording(path)
    message = str(caught.value)
    assert problem in message
    assert str(path) in message
    assert "events.jsonl" in message
    assert ".traj.json" in message
    assert "\n" not in message


def test_a_folder_without_a_run_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the folder has no events\.jsonl"):
        read_recording(tmp_path)


def test_a_missing_file_is_said_before_the_run(context: RunContext, project: Path) -> None:
    provider = ReplayProvider(ReplayOptions(), context)
    problem = provider.ready("replay:nowhere.jsonl")
    assert problem is not None
    assert "there is no file nowhere.jsonl" in problem
    assert str(project) in problem
    with pytest.raises(UsageError, match=r"there is no file nowhere\.jsonl"):
        provider.create("replay:nowhere.jsonl", 0.0, context)


def test_a_file_that_is_no_record_is_said_before_the_run(
    context: RunContext, project: Path
) -> None:
    (project / "notes.txt").write_text("hello\n", encoding="utf-8")
    problem = ReplayProvider(ReplayOptions(), context).ready("replay:notes.txt")
    assert problem is not None
    assert "is not a recorded run" in problem
    assert "\n" not in problem


def test_a_file_is_found_in_the_project(context: RunContext, project: Path) -> None:
    (project / "run.jsonl").write_text(usage(0, "ls").to_json() + "\n", encoding="utf-8")
    provider = ReplayProvider(ReplayOptions(), context)
    assert provider.ready("replay:run.jsonl") is None
    assert provider.create("replay:run.jsonl", 0.0, context)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    lines = [usage(0, "ls").to_json(), '{"kind": "llm_us', usage(1, "pwd").to_json(), ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match="line 2 is not an event"):
        read_recording(path)


def test_the_last_line_that_a_kill_cut_off_is_left_out_with_a_warning(
    tmp_path: Path, model_of: Callable[..., Any], events: list[AgentEvent]
) -> None:
    path = tmp_path / "events.jsonl"
    whole, cut = usage(0, "ls").to_json(), usage(1, "pwd").to_json()
    path.write_text(f"{whole}\n{cut[:-20]}", encoding="utf-8")
    model = model_of(path)
    assert len(model.decisions) == 1
    assert [event.payload["level"] for event in events] == ["warning"]
    assert "cut off" in events[0].payload["message"]


def test_one_fenced_block_is_a_call_and_two_are_none(tmp_path: Path) -> None:
    path = tmp_path / "old.traj.json"
    answers = [
        "THOUGHT: look\n\n```bash\nls -la\n```",
        "THOUGHT: unsure\n\n```bash\nls\n```\nor\n```bash\npwd\n```",
        "THOUGHT: done\n\n```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```",
    ]
    messages = [{"role": "assistant", "content": answer} for answer in answers]
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    recording = read_recording(path)
    commands = [[call.args["command"] for call in one.calls] for one in recording.decisions]
    assert commands == [["ls -la"], [], []]
    assert recording.decisions[0].text == "THOUGHT: look"
    assert recording.submitted


async def test_malformed_arguments_stay_malformed(
    tmp_path: Path, model_of: Callable[..., Any]
) -> None:
    call = {"id": "x", "function": {"name": "bash", "arguments": '{"command": "ls'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    path = tmp_path / "bad.traj.json"
    path.write_text(json.dumps({"messages": [message]}), encoding="utf-8")
    answer = await model_of(path).ainvoke("go")
    assert not answer.tool_calls
    assert answer.invalid_tool_calls[0]["args"] == '{"command": "ls'


@pytest.mark.skipif(not SHARED.is_dir(), reason="no recorded trajectories in ../shared/data")
def test_a_real_trajectory_is_read_whole() -> None:
    recording = read_recording(SHARED / "marshmallow-1359.traj.json")
    # 74 recorded calls; the last one handed in the patch.
    assert len(recording.decisions) == 74
    assert sum(len(decision.calls) for decision in recording.decisions) == 73
    assert recording.submitted
    assert recording.project_paths == ("/testbed",)


def test_an_option_that_is_no_absolute_path_is_refused() -> None:
    with pytest.raises(ValueError, match="not an absolute path"):
        ReplayOptions(path_prefixes=["testbed"])
    with pytest.raises(ValueError, match="not an absolute path"):
        ReplayOptions(path_prefixes=["/"])
