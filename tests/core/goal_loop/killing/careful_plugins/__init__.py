"""A goal, a model and tools for runs that are killed: each says where it stands, again and again.

The model works like a careful person: it looks at the conversation for what is done, does what is
not, and does again, under another mark, what it is told was cut off.
"""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from retrai_core import CheckReport, GoalBase, GoalResult, LLMProvider, Tool, ToolArgs, ToolResult

TURNS = 6
CUT_OFF = "may or may not have had its effect"


def _nowhere() -> None:
    """Nobody counts."""


stands_at: Callable[[], None] = _nowhere
"""Called at every point where a run may be killed; the driver puts its own counter here."""


class AllWritten(GoalBase):
    """Holds when file0.txt to file5.txt say `right`."""

    name = "all-written"
    default_tools = ("write_file", "append_mark", "read_file")

    async def check(self, state, cwd):
        stands_at()
        cases = {}
        for number in range(TURNS):
            path = cwd / f"file{number}.txt"
            right = path.exists() and path.read_text() == "right\n"
            cases[path.name] = "passed" if right else "failed"
        stands_at()
        wrong = sum(outcome != "passed" for outcome in cases.values())
        report = CheckReport(cases, command=["look"])
        return GoalResult(not wrong, f"{wrong} files are missing", report=report)

    def system_prompt(self):
        return "Write every file."

    def protected(self, project):
        return ("/protected.txt",)


class CarefulModel(BaseChatModel):
    """Writes one file a turn, with a mark before it, and looks at it beside."""

    @property
    def _llm_type(self):
        return "careful"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        stands_at()
        wanted = [
            step
            for turn in range(TURNS)
            for step in (f"mark-{turn}", f"write-{turn}", f"read-{turn}")
        ]
        told = [message for message in messages if isinstance(message, ToolMessage)]
        tries = {
            step: [m for m in told if m.tool_call_id.startswith(f"{step}/")] for step in wanted
        }
        undone = [
            step
            for step in wanted
            if not any(CUT_OFF not in str(message.content) for message in tries[step])
        ]
        # What belongs to one turn is asked for at once.
        together = [step for step in undone if step.endswith(undone[0][-2:])]
        calls = [_call(step, f"{step}/{len(tries[step])}") for step in together]
        message = AIMessage(
            f"next: {', '.join(together)}",
            tool_calls=calls,
            usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        )
        stands_at()
        return ChatResult(generations=[ChatGeneration(message=message)])


def _call(step, call_id):
    what, number = step.split("-")
    path = f"file{number}.txt"
    made = {
        "mark": ("append_mark", {"mark": call_id}),
        "write": ("write_file", {"path": path, "mark": call_id}),
        "read": ("read_file", {"path": path, "mark": call_id}),
    }
    name, args = made[what]
    return {"id": call_id, "name": name, "args": args}


class Careful(LLMProvider):
    name = "careful"
    model_patterns = ("careful",)
    per_run = True

    def create(self, model, temperature, context):
        return CarefulModel()

    def cost_usd(self, model, usage):
        return usage["total_tokens"] / 1000


class _Marked(Tool):
    """Notes every call in the run's folder when it begins and when it ends."""

    class Args(ToolArgs):
        mark: str

    def note(self, word, mark):
        with (self.context.run_dir / "calls").open("a") as log:
            log.write(f"{word} {mark}\n")


class AppendMark(_Marked):
    """What it does shows when it is done twice."""

    name = "append_mark"
    description = "Append a mark to marks.txt."
    needs = frozenset({"write"})

    async def run(self, args, context):
        self.note("begin", args.mark)
        stands_at()
        with (context.project / "marks.txt").open("a") as file:
            file.write(f"{args.mark}\n")
        stands_at()
        self.note("end", args.mark)
        return ToolResult("appended")


class WriteFile(_Marked):
    name = "write_file"
    description = "Write right into a file."
    needs = frozenset({"write"})

    class Args(ToolArgs):
        path: str
        mark: str

    async def run(self, args, context):
        self.note("begin", args.mark)
        stands_at()
        context.workspace.write_bytes(args.path, b"right\n")
        stands_at()
        self.note("end", args.mark)
        return ToolResult("written")


class ReadFile(_Marked):
    name = "read_file"
    description = "Read a file."
    needs = frozenset({"read"})

    class Args(ToolArgs):
        path: str
        mark: str

    async def run(self, args, context):
        self.note("begin", args.mark)
        stands_at()
        self.note("end", args.mark)
        return ToolResult(context.workspace.read_bytes(args.path).decode())
