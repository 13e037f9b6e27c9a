"""A plugin distribution of a stranger: a goal, two tools, a model and a command.

The goal `answer` holds when answer.txt says 42. The model `script:FILE` takes its turns from a JSON
file, a list of lists of calls `[tool, {arguments}]`: the n-th turn is taken when n - 1 calls of the
model are in the conversation, so that a resumed run goes on where it was.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from retrai_core import (
    AgentOptions,
    CheckReport,
    Detection,
    Frontend,
    GoalBase,
    GoalLoopAgent,
    GoalOptions,
    GoalResult,
    LLMProvider,
    Marker,
    Tool,
    ToolArgs,
    ToolResult,
)


class AnswerOptions(GoalOptions):
    wanted: str = "42"
    patience_s: float = Field(default=1.0, json_schema_extra={"loosens": False})


class AnswerGoal(GoalBase):
    name = "answer"
    summary = "answer.txt says 42"
    needs = frozenset({"read", "write"})
    markers = (Marker("question.txt", priority=10),)
    default_tools = ("write_answer", "shell")
    Options = AnswerOptions

    @classmethod
    def detect(cls, project):
        return Detection("question.txt") if (project / "question.txt").exists() else None

    async def check(self, state, cwd):
        path = cwd / "answer.txt"
        said = path.read_text() if path.exists() else "nothing"
        right = said == self.options.wanted and "TOY_ANSWER_FAILS" not in os.environ
        report = CheckReport({"answer": "passed" if right else "failed"}, command=["read", "it"])
        return GoalResult(right, f"it says {said}", report=report)

    def system_prompt(self):
        return "Find the answer."


class PoemOptions(AnswerOptions):
    task: str = ""


class PoemGoal(AnswerGoal):
    """The same for the text of its own option `task`, which is a setting too."""

    name = "poem"
    summary = "answer.txt is the poem"
    markers = ()
    protects = "the question"
    Options = PoemOptions

    def __init__(self, options, context):
        super().__init__(options, context)
        self.options = AnswerOptions(wanted=options.task)


class AnswerArgs(ToolArgs):
    text: str


class WriteAnswer(Tool):
    name = "write_answer"
    description = "Write answer.txt."
    needs = frozenset({"read", "write"})
    Args = AnswerArgs

    async def run(self, args, context):
        context.workspace.write_bytes("answer.txt", args.text.encode())
        return ToolResult(f"wrote {args.text}")


class ShellArgs(ToolArgs):
    line: str


class Shell(Tool):
    name = "shell"
    description = "Run a shell line."
    needs = frozenset({"run"})
    Args = ShellArgs

    async def run(self, args, context):
        done = await context.sandbox.run(args.line, timeout_s=600)
        return ToolResult(done.stdout, ok=done.exit_code == 0)


class Look(Tool):
    name = "look_up"
    description = "Look something up. It stands somewhere."
    needs = frozenset({"network"})
    offered = "always"
    Args = AnswerArgs

    async def run(self, args, context):
        return ToolResult(f"there is no {args.text}")


class PatientOptions(AgentOptions):
    note: str = ""


class Patient(GoalLoopAgent):
    name = "patient"
    Options = PatientOptions

    def build_graph(self, checkpointer):
        from langgraph.graph import START, StateGraph

        from retrai_core import AgentState, LoopSteps

        (self.context.run_dir / "note").write_text(self.options.note)
        graph = StateGraph(AgentState)
        for name in ("plan", "act", "evaluate", "human_check"):
            graph.add_node(name, getattr(LoopSteps, name))
        graph.add_edge(START, "plan")
        graph.add_conditional_edges("plan", LoopSteps.should_call_tools)
        graph.add_edge("act", "evaluate")
        graph.add_conditional_edges("evaluate", LoopSteps.route_after_evaluate)
        graph.add_conditional_edges("human_check", LoopSteps.route_after_human_check)
        return graph.compile(checkpointer=checkpointer)


class ScriptModel(BaseChatModel):
    turns: list[list[tuple[str, dict[str, Any]]]]

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        said = sum(isinstance(message, AIMessage) for message in messages)
        turn = self.turns[said] if said < len(self.turns) else []
        calls = [
            {"name": name, "args": args, "id": f"call-{said}-{number}"}
            for number, (name, args) in enumerate(turn)
        ]
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        message = AIMessage("", tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


class ScriptProvider(LLMProvider):
    name = "script"
    model_patterns = ("script:*",)
    per_run = True

    def create(self, model, temperature, context, api_key=None):
        return ScriptModel(turns=json.loads(Path(model.removeprefix("script:")).read_text()))


class Greet(Frontend):
    name = "greet"
    summary = "say hello"

    def command(self):
        @click.command("greet", help="Say hello.")
        def greet() -> None:
            click.echo("hello")

        return greet
