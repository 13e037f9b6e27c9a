"""The chat model: it speaks in tool calls, remembers in its answers, and is honest at the end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from retrai_core import GAVE_UP, RunContext
from retrai_llm_offline.model import OfflineModel
from retrai_llm_offline.provider import OfflineOptions, OfflineProvider

from .conftest import MakeProject

TOOLS = ("run_pytest", "file_read", "file_patch")
PROJECT = {
    "area.py": "def area(a, b):\n    return a + b\n",
    "test_area.py": """
        from area import area

        def test_area():
            assert area(2, 3) == 6

        def test_other():
            assert area(1, 1) == 1
    """,
}
HOPELESS = {"test_area.py": "def test_area():\n    assert 'no edit' == 'fixes this'\n"}


def model_of(context: RunContext, names: Sequence[str] = TOOLS, **options: float) -> OfflineModel:
    provider = OfflineProvider(OfflineOptions.model_validate(options), context)
    model = provider.create("offline", 0.0, context)
    schemas = [
        {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}
        for name in names
    ]
    bound = model.bind_tools(schemas)
    assert isinstance(bound, OfflineModel)
    return bound


def use_tools(project: Path, answer: AIMessage) -> list[BaseMessage]:
    """What the run's tools do with an answer's calls."""
    results: list[BaseMessage] = []
    for call in answer.tool_calls:
        args = call["args"]
        if call["name"] == "file_patch":
            path = project / args["path"]
            text = path.read_text("utf-8")
            assert text.count(args["old"]) == 1
            path.write_text(text.replace(args["old"], args["new"]), "utf-8")
        results.append(ToolMessage("done", tool_call_id=str(call["id"]), name=call["name"]))
    return results


async def test_it_looks_searches_reads_and_patches(
    make_project: MakeProject, context: RunContext
) -> None:
    project = make_project(PROJECT)
    model = model_of(context)
    messages: list[BaseMessage] = [HumanMessage("2 of 2 tests fail")]
    names: list[str] = []
    for _ in range(3):
        answer = await model.ainvoke(messages)
        names += [call["name"] for call in answer.tool_calls]
        assert answer.text
        messages += [answer, *use_tools(project, answer)]
    assert names == ["run_pytest", "file_read", "file_patch"]
    assert "a * b" in (project / "area.py").read_text("utf-8")
    assert "area.py:2" in messages[-2].text
    ids = [call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    assert len(set(ids)) == len(ids)


async def test_another_process_goes_on_from_the_messages_alone(
    make_project: MakeProject, context: RunContext
) -> None:
    project = make_project(PROJECT)
    messages: list[BaseMessage] = [HumanMessage("2 of 2 tests fail")]
    for _ in range(2):
        answer = await model_of(context).ainvoke(messages)
        messages += [answer, *use_tools(project, answer)]
    # A checkpoint stores plain data: what the answer carries must come back through JSON.
    stored = AIMessage.model_validate_json(messages[-2].model_dump_json())
    resumed = await model_of(context).ainvoke([messages[0], stored, messages[-1]])
    assert [call["name"] for call in resumed.tool_calls] == ["file_patch"]


async def test_a_refused_patch_is_not_asked_for_again(
    make_project: MakeProject, context: RunContext
) -> None:
    make_project(PROJECT)
    model = model_of(context, ("file_patch",))
    messages: list[BaseMessage] = [HumanMessage("2 of 2 tests fail")]
    first = await model.ainvoke(messages)
    (call,) = first.tool_calls
    refusal = ToolMessage("protected", tool_call_id=str(call["id"]), status="error")
    second = await model.ainvoke([*messages, first, refusal])
    assert [c["args"] for c in second.tool_calls] != [call["args"]]


async def test_it_says_plainly_that_it_gives_up_and_stays_with_it(
    make_project: MakeProject, context: RunContext
) -> None:
    make_project(HOPELESS)
    model = model_of(context, cpu_s=5)
    messages: list[BaseMessage] = [HumanMessage("1 of 1 tests fails")]
    look = await model.ainvoke(messages)
    messages += [look, ToolMessage("1 failed", tool_call_id=str(look.tool_calls[0]["id"]))]
    answer = await model.ainvoke(messages)
    assert answer.tool_calls == []
    assert answer.text.startswith("I give up. I tried")
    assert answer.response_metadata["finish_reason"] == GAVE_UP
    assert "finish_reason" not in look.response_metadata
    again = await model.ainvoke([*messages, answer, HumanMessage("You called no tool.")])
    assert (again.tool_calls, again.text) == ([], answer.text)


async def test_edits_that_are_always_refused_are_not_searched_for_without_end(
    make_project: MakeProject, context: RunContext
) -> None:
    make_project(PROJECT)
    model = model_of(context, ("file_patch",), max_searches=2)
    messages: list[BaseMessage] = [HumanMessage("2 of 2 tests fail")]
    for _ in range(9):
        answer = await model.ainvoke(messages)
        if not answer.tool_calls:
            break
        (call,) = answer.tool_calls
        refusal = ToolMessage("denied", tool_call_id=str(call["id"]), status="error")
        messages += [answer, refusal]
    assert answer.text.startswith("I give up. In 2 searches I tried")
    assert answer.text.endswith("The edits that I found were refused.")


async def test_without_a_tool_to_patch_with_it_does_not_pretend(context: RunContext) -> None:
    answer = await model_of(context, ("file_read",)).ainvoke([HumanMessage("tests fail")])
    assert answer.tool_calls == []
    assert "file_patch" in answer.text


async def test_a_check_that_ran_into_its_time_out_is_not_run_once_more(
    make_project: MakeProject, context: RunContext
) -> None:
    make_project(PROJECT)
    opening = HumanMessage("At the start the check says: pytest was still running after 120 s")
    answer = await model_of(context).ainvoke([opening])
    assert [call["name"] for call in answer.tool_calls] == ["file_read"]


def test_the_provider_is_cheap_to_import_and_ready_without_a_key() -> None:
    code = (
        "import sys, retrai_llm_offline.provider as p\n"
        "assert p.OfflineProvider(p.OfflineOptions(), None).ready('offline') is None\n"
        "heavy = {'langchain_core', 'langgraph', 'litellm', 'openai'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_options_beyond_reason_are_refused() -> None:
    with pytest.raises(ValueError, match="cpu_s"):
        OfflineOptions(cpu_s=0)
