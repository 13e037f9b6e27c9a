"""Plugins for `long_runs.py`: a goal that never passes, a model and a tool that go on for ever."""

from __future__ import annotations

import base64
import random

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from retrai_core import CheckReport, GoalBase, GoalResult, LLMProvider, Tool, ToolArgs, ToolResult

RESULT_CHARS = 8000


class Never(GoalBase):
    """Never holds, and says so at once."""

    name = "never"
    default_tools = ("emit",)

    async def check(self, state, cwd):
        report = CheckReport({"only": "failed"}, command=["never"])
        return GoalResult(False, "it never holds", report=report)

    def system_prompt(self):
        return "There is nothing to reach."


class Caller(BaseChatModel):
    """Calls `emit` once a turn."""

    calls: int = 0
    writes: bool = False

    @property
    def _llm_type(self):
        return "caller"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.calls += 1
        # Now and then a file changes, or the run would end as stuck.
        args = {"number": self.calls, "write": self.writes or self.calls % 25 == 0}
        message = AIMessage(
            "One more result, please.",
            tool_calls=[{"id": f"call-{self.calls}", "name": "emit", "args": args}],
            usage_metadata={"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class Calling(LLMProvider):
    """`calling` only asks, `writing` asks for a file too."""

    name = "calling"
    model_patterns = ("calling", "writing")
    per_run = True

    def create(self, model, temperature, context, api_key=None):
        return Caller(writes=model == "writing")


class Emit(Tool):
    """Gives back text that hardly compresses, and writes it to a file when asked."""

    name = "emit"
    description = "Give back a long text."
    needs = frozenset({"read", "write"})

    class Args(ToolArgs):
        number: int
        write: bool = False

    async def run(self, args, context):
        noise = random.Random(args.number).randbytes(RESULT_CHARS * 3 // 4)
        text = base64.b64encode(noise).decode()
        if args.write:
            context.workspace.write_bytes(f"out/{args.number % 20}.txt", text.encode())
        return ToolResult(text)
