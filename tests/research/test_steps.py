"""The nodes and routers on plain states, and the graph close to LangGraph's limit of nodes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from retrai_core import RunContext, SafeWorkspace
from retrai_research.agent import Research
from retrai_research.evidence import Evidence
from retrai_research.mentions import missing, render_path
from retrai_research.options import ResearchInput, ResearchOptions
from retrai_research.project_files import ProjectFiles
from retrai_research.prompts import Prompts
from retrai_research.state import ResearchState
from retrai_research.steps import ResearchSteps


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
    context.input = ResearchInput(question="Why?")
    return context


def test_a_mentioned_file_is_cut_and_only_what_is_shown_is_evidence(context: RunContext) -> None:
    (context.project / "long.txt").write_text(f"{'a' * 30_000}\n{'b' * 30_000}\nc\n")
    (context.project / "line.txt").write_text("d" * 10_000_000)
    evidence, files = Evidence(), ProjectFiles(context.workspace)
    assert render_path("long.txt", files, evidence).endswith("aaa\n[lines 1 to 1 of 3]")
    assert len(render_path("line.txt", files, evidence)) < 50_000
    assert evidence.as_json() == {"line.txt": [[1, 1]], "long.txt": [[1, 1]]}


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("What does @src/gone.py do?", ["src/gone.py"]),
        ("And @../outside.py, @/etc/passwd?", ["../outside.py", "/etc/passwd"]),
        ("Where is @pytest.fixture used, and @there.txt?", []),
    ],
)
def test_a_path_that_the_project_does_not_have_is_named(
    context: RunContext, question: str, paths: list[str]
) -> None:
    (context.project / "there.txt").write_text("x\n")
    assert missing(question, context.workspace) == paths


def state(**values: Any) -> ResearchState:
    usual: dict[str, Any] = {
        "input": "Why?",
        "chat_history": [],
        "plan": ["one", "two"],
        "current_step": 0,
        "findings": {},
        "response": "",
        "loop_decision": "CONTINUE",
        "messages": [],
        "executor_call_count": 0,
        "iteration_count": 1,
        "remaining_steps": 100,
    }
    return cast("ResearchState", usual | values)


def test_the_state_has_ten_fields_and_the_remaining_steps() -> None:
    assert set(ResearchState.__annotations__) == set(state())


@pytest.mark.parametrize(
    ("values", "way"),
    [
        ({}, "tools"),
        ({"executor_call_count": 5}, "aggregate"),
        ({"remaining_steps": 5}, "aggregate"),
        ({"messages": [AIMessage("done")]}, "aggregate"),
        ({"messages": []}, "aggregate"),
    ],
)
def test_calls_are_made_within_the_limits(
    context: RunContext, values: dict[str, Any], way: str
) -> None:
    call = ToolCall(name="grep_search", args={}, id="1")
    asks = {"messages": [AIMessage("", tool_calls=[call])]}
    steps = ResearchSteps(context, ResearchOptions(), Prompts())
    assert steps.route_executor(state(**(asks | values))) == way


@pytest.mark.parametrize(
    ("values", "way"),
    [
        ({}, "planner"),
        ({"loop_decision": "FINISH"}, "synthesizer"),
        ({"remaining_steps": 7}, "synthesizer"),
    ],
)
def test_the_research_continues_while_nodes_are_left(
    context: RunContext, values: dict[str, Any], way: str
) -> None:
    steps = ResearchSteps(context, ResearchOptions(), Prompts())
    assert steps.should_continue(state(**values)) == way


async def test_aggregate_joins_results_and_text_and_clears_the_messages(
    context: RunContext,
) -> None:
    messages = [
        HumanMessage("Step 1", id="1"),
        AIMessage("I look.", id="2"),
        ToolMessage("a.py:1", tool_call_id="x", id="3"),
        AIMessage("Found.", id="4"),
    ]
    steps = ResearchSteps(context, ResearchOptions(), Prompts())
    update = await steps.aggregate(state(messages=messages, findings={"@a": "b"}))
    assert update["findings"] == {
        "@a": "b",
        "step_1: one": "I look.\n---\na.py:1\n---\nFound.",
    }
    assert update["current_step"] == 1
    assert [type(each) for each in update["messages"]] == [RemoveMessage] * 4


async def test_the_graph_answers_before_langgraphs_limit_of_nodes(context: RunContext) -> None:
    context.max_iterations = 1000
    model = FakeListChatModel(responses=['{"decision": "CONTINUE", "reason": "more"}'])

    def ask_it(tools: bool) -> FakeListChatModel:
        return model

    context.agent_model_part = ask_it
    agent = Research(ResearchOptions(), context)
    graph = cast("Any", agent.build_graph(InMemorySaver()))
    for limit in range(8, 40):
        config = {"configurable": {"thread_id": str(limit)}, "recursion_limit": limit}
        ended = await graph.ainvoke(await agent.initial_state(context, None), config)
        assert "at its limit of graph nodes" in ended["response"], limit
