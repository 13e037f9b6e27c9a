"""A sound distribution: the goal, the model and the tool of a run that uses nothing else."""

from __future__ import annotations

from .wheels import Wheel

CODE = '''
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr

from retrai_core import (
    CheckReport, GoalBase, GoalResult, LLMOptions, LLMProvider, Tool, ToolArgs, ToolResult,
)

PUT = {"name": "bystander-put", "args": {"path": "a.txt", "text": "right"}}


class Held(GoalBase):
    """Holds when `a.txt` says `right`."""

    name = "held"
    summary = "a.txt says right"
    default_tools = ("bystander-put",)

    async def check(self, state, cwd):
        holds = (cwd / "a.txt").read_text().strip() == "right"
        cases = {"a.txt": "passed" if holds else "failed"}
        report = CheckReport(cases, command=["compare", "a.txt"])
        return GoalResult(holds, "a.txt is right" if holds else "a.txt is wrong", report=report)

    def system_prompt(self):
        return "Make a.txt say right."


class Put(Tool):
    """Writes a file."""

    name = "bystander-put"
    description = "Write a file."
    needs = frozenset({"write"})

    class Args(ToolArgs):
        path: str
        text: str

    async def run(self, args, context):
        context.workspace.write_bytes(args.path, args.text.encode())
        return ToolResult("written")


class PlayerModel(BaseChatModel):
    """Makes the calls of one turn after the other, then the last again and again."""

    turns: list
    _context = PrivateAttr()

    @property
    def _llm_type(self):
        return "player"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        turn = self.turns[min(self._context.iteration, len(self.turns) - 1)]
        calls = [{"id": f"c{i}", "args": {}, **call} for i, call in enumerate(turn)]
        message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


class Player(LLMProvider):
    """The model `player`."""

    name = "player"
    summary = "makes given calls"
    model_patterns = ("player",)
    per_run = True

    class Options(LLMOptions):
        turns: list = Field(default_factory=lambda: [[PUT]])

    def create(self, model, temperature, context, api_key=None):
        made = PlayerModel(turns=self.options.turns)
        made._context = context
        return made
'''

MANIFEST = """
schema = 1
[goals.held]
summary = "a.txt says right"
needs = ["read", "run"]
default_tools = ["bystander-put"]
[tools.bystander-put]
summary = "Write a file."
needs = ["write"]
[llms.player]
summary = "makes given calls"
needs = []
model_patterns = ["player"]
[llms.player.options]
turns = { type = "list", default = [] }
"""

BYSTANDER = Wheel(
    "bystander",
    {
        "retrai.goals": ["held = bystander.plugin:Held"],
        "retrai.tools": ["bystander-put = bystander.plugin:Put"],
        "retrai.llms": ["player = bystander.plugin:Player"],
    },
    CODE,
    MANIFEST,
    requires=["retrai-core>=0.1,<0.2"],
)
PUT = {"name": "bystander-put", "args": {"path": "a.txt", "text": "right"}}
"""The call that makes the goal `held` hold."""
