"""One plugin of each kind, as written for the contract of retrai-core 0.1.

None of the optional methods and attributes, hooks with as few arguments as they can do with: what
this asks of the core, every later core that accepts `>=0.1,<0.2` must give. Never change it.
"""

from __future__ import annotations

import subprocess

from retrai_core import (
    Agent,
    CheckReport,
    Completed,
    EventSink,
    Frontend,
    GateDecision,
    GoalBase,
    GoalOptions,
    GoalResult,
    LLMProvider,
    MemoryStore,
    Sandbox,
    Strategy,
    Tool,
    ToolArgs,
    ToolResult,
    hookimpl,
)


class ZeroOptions(GoalOptions):
    wanted: str = "zero"


class ZeroGoal(GoalBase):
    name = "zero-goal"
    summary = "zero.txt holds a word"
    Options = ZeroOptions

    async def check(self, state, cwd):
        done = await self.context.sandbox.run(["cat", "zero.txt"], timeout_s=20, cwd=cwd)
        right = done.stdout.strip() == self.options.wanted
        report = CheckReport({"zero.txt": "passed" if right else "failed"}, ["cat", "zero.txt"])
        return GoalResult(right, "it is right" if right else "it is wrong", done.stderr, report)

    def system_prompt(self):
        return f"Write {self.options.wanted} into zero.txt."


class ZeroArgs(ToolArgs):
    text: str


class ZeroTool(Tool):
    name = "zero_tool"
    description = "Write zero.txt."
    needs = frozenset({"write"})
    Args = ZeroArgs

    async def run(self, args, context):
        context.workspace.write_bytes("zero.txt", args.text.encode())
        return ToolResult("written")


class ZeroProvider(LLMProvider):
    name = "zero-llm"
    summary = "writes zero.txt"
    model_patterns = ("zero-model",)

    def create(self, model, temperature, context):
        from .chat_model import ZeroChat

        return ZeroChat()


class ZeroMemory(MemoryStore):
    name = "zero-memory"
    summary = "knows one thing"

    async def recall(self, goal, project):
        return [Strategy(goal, "Writing the word helped.")]

    async def learn(self, outcome):
        self.context.publish("log", level="info", message=f"zero learns: {outcome.outcome}")


class ZeroAgent(Agent):
    name = "zero-agent"
    summary = "plan, act, evaluate"

    def build_graph(self, checkpointer):
        from langgraph.graph import START, StateGraph

        from retrai_core import AgentState, LoopSteps

        graph = StateGraph(AgentState)
        for name in ("plan", "act", "evaluate", "human_check"):
            graph.add_node(name, getattr(LoopSteps, name))
        graph.add_edge(START, "plan")
        graph.add_conditional_edges("plan", LoopSteps.after_plan)
        graph.add_edge("act", "evaluate")
        graph.add_conditional_edges("evaluate", LoopSteps.after_evaluate)
        graph.add_conditional_edges("human_check", LoopSteps.after_human_check)
        return graph.compile(checkpointer=checkpointer)


class ZeroSandbox(Sandbox):
    name = "zero-sandbox"
    summary = "plain subprocesses"

    async def run(
        self,
        command,
        *,
        timeout_s,
        cwd=None,
        env=None,
        limits=None,
        stdin=None,
        writable=(),
        readable=(),
    ):
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=cwd or self.context.project,
            timeout=timeout_s,
            input=stdin or b"",
            capture_output=True,
        )
        return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())


class ZeroFrontend(Frontend):
    name = "zero-frontend"
    summary = "say zero"

    def command(self):
        import click

        @click.command("zero-frontend", help="Say zero.")
        def zero():
            click.echo("zero")

        return zero


class ZeroSink(EventSink):
    name = "zero-sink"
    summary = "hears everything"

    def on_event(self, event):
        pass


class ZeroHooks:
    """Asks for little."""

    @hookimpl
    def before_tool(self, call):
        if call.args.get("text") == "one":
            return GateDecision("deny", "zero only")
        return None

    @hookimpl
    def system_prompt(self, goal):
        return f"Zero hooks know {goal.name}."

    @hookimpl
    def tools(self):
        return []

    @hookimpl
    def goals(self):
        return []
