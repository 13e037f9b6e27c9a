"""A goal, a model that plays given turns, and a few tools, installed only on the tests' path."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field, PrivateAttr, field_validator

from retrai_core import (
    Agent,
    AgentInput,
    AgentResult,
    CheckReport,
    Contradiction,
    Detection,
    GateDecision,
    GoalBase,
    GoalOptions,
    GoalResult,
    LLMOptions,
    LLMProvider,
    Marker,
    ModelError,
    RunContext,
    StateUpdate,
    Suspicion,
    Tool,
    ToolArgs,
    ToolOptions,
    ToolResult,
    hookimpl,
)


class ExpectedText(GoalBase):
    """Each line of `expected.txt` is `file: text`: a case, which passes when the file is that."""

    name = "expected-text"
    summary = "files hold what expected.txt says"
    markers = (Marker("expected.txt", priority=10),)
    default_tools = ("look", "put", "shell")

    class Options(GoalOptions):
        fails_in_copies: bool = False
        contradicted: list = Field(default_factory=list)
        still_pass: list = Field(default_factory=list)
        suspicious: str = ""
        sign: str = ""
        """Of what is suspicious; it reaches the runner where there is none."""
        writes: str = ""
        stamps: bool = False
        flaky_checks: list = Field(default_factory=list)
        """The numbers of the checks, from 1, in which b.txt fails for no reason."""
        killed_checks: list = Field(default_factory=list)
        """The numbers of the checks, from 1, whose runner is killed before it has answered."""
        slow_checks: list = Field(default_factory=list)
        """The same, of those whose runner does not end in its time."""
        hanging_checks: list = Field(default_factory=list)
        """The same, of those whose runner never ends; its process id is in `hanging`."""
        asks: int = 0
        """How many times at once a check asks the run's own model beside the agent."""
        question: str = "Is it right?"
        hides_refusals: bool = False
        leans_on: str = ""
        alone: str = "failed"
        """The check fails without this file."""
        plain_in_copies: str = ""
        """The check fails in a copy where this file has a set-user-id or set-group-id bit."""

    @classmethod
    def detect(cls, project):
        found = project / "options.json"
        return Detection("expected.txt", json.loads(found.read_text()) if found.exists() else {})

    async def check(self, state, cwd):
        with (self.context.run_dir / "checks").open("a") as log:
            log.write(f"{cwd}\n")
        if self.options.asks:
            model = self.context.chat_model()
            asked = [model.ainvoke(self.options.question) for _ in range(self.options.asks)]
            await asyncio.gather(*asked, return_exceptions=self.options.hides_refusals)
        leans_on = self.options.leans_on
        if leans_on and cwd != self.context.project and not (cwd / leans_on).exists():
            cases = {"a.txt": self.options.alone, "b.txt": "passed"}
            return GoalResult(False, "a.txt is wrong", report=CheckReport(cases, ["compare"]))
        number = len((self.context.run_dir / "checks").read_text().split())
        if cut_off := await self._cut_off(number):
            return cut_off
        cases = {}
        if self.options.writes and (cwd / "a.txt").read_text() != "wrong\n":
            stamp = time.time_ns() if self.options.stamps else "written by the suite"
            (cwd / self.options.writes).write_text(f"{stamp}\n")
        for line in (cwd / "expected.txt").read_text().splitlines():
            name, _, text = line.partition(": ")
            found = (cwd / name).read_text().strip() if (cwd / name).exists() else None
            cases[name] = "passed" if found == text else "failed"
        if self.options.fails_in_copies and cwd != self.context.project:
            cases = dict.fromkeys(cases, "failed")
        plain = self.options.plain_in_copies
        if plain and cwd != self.context.project and (cwd / plain).stat().st_mode & 0o6000:
            cases = dict.fromkeys(cases, "failed")
        if number in self.options.flaky_checks:
            cases["b.txt"] = "failed"
        wrong = [name for name, outcome in cases.items() if outcome != "passed"]
        report = CheckReport(cases, command=["compare", "expected.txt"])
        reason = f"{len(wrong)} of {len(cases)} files are wrong" if wrong else "all files are right"
        return GoalResult(not wrong, reason, details="\n".join(wrong), report=report)

    async def _cut_off(self, number):
        if number in self.options.killed_checks:
            done = await self.context.sandbox.run("kill -9 $$", timeout_s=20)
        elif number in self.options.slow_checks:
            done = await self.context.sandbox.run("sleep 20", timeout_s=0.01)
        elif number in self.options.hanging_checks:
            line = f"trap '' TERM; echo $$ >> {self.context.run_dir}/hanging; sleep 1000"
            done = await self.context.sandbox.run(line, timeout_s=1000)
        else:
            return None
        report = CheckReport({}, command=["compare", "expected.txt"], complete=False)
        return GoalResult(False, f"the runner ended with {done.exit_code}", report=report)

    def system_prompt(self):
        return "Make every file hold what expected.txt says."

    def protected(self, project):
        return ("/expected.txt", "/checks/**")

    async def contradict(self, copy, cases):
        return Contradiction(self.options.contradicted, self.options.still_pass)

    def audit(self, diff):
        word, sign = self.options.suspicious, self.options.sign
        found = Suspicion("a.txt", 1, word, reaches_runner=not sign, sign=sign)
        return [found] if word and word in diff else []

    async def external_state(self, project):
        with (self.context.run_dir / "outside").open("a") as log:
            log.write("looked\n")
        return ""

    def steering(self, project):
        return ("steer.cfg", "/linked/steer.txt", "/own/check.txt")


class ScriptedModel(BaseChatModel):
    """Plays `turns` of the provider's options, one an iteration; the last one again and again."""

    turns: list
    greedy: bool = False
    _context: RunContext = PrivateAttr()

    @property
    def _llm_type(self):
        return "turns"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        seen = self._context.run_dir / "seen.jsonl"
        with seen.open("a") as log:
            log.write(json.dumps([str(message.content) for message in messages]) + "\n")
        turn = self.turns[min(self._context.iteration, len(self.turns) - 1)]
        if "error" in turn:
            raise ModelError(turn["error"], fatal=turn.get("fatal", False))
        calls = [
            {"id": call.get("id", f"c{i}"), "name": call["name"], "args": call.get("args", {})}
            for i, call in enumerate(turn.get("calls", []))
        ]
        invalid = [
            {"id": "bad", "name": call["name"], "args": call["args"], "error": "not JSON"}
            for call in turn.get("malformed", [])
        ]
        message = AIMessage(
            turn.get("text", ""),
            tool_calls=calls,
            invalid_tool_calls=invalid,
            usage_metadata=self._usage(messages, kwargs.get("max_tokens", 1_000_000)),
            response_metadata={"finish_reason": turn.get("finish", "stop")},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        if self.turns[min(self._context.iteration, len(self.turns) - 1)].get("hangs"):
            (self._context.run_dir / "hanging").touch()
            await asyncio.Event().wait()
        return await super()._agenerate(messages, stop, run_manager, **kwargs)

    def _usage(self, messages, allowed):
        """15 tokens; or as many as it may use, and a token for every three characters it reads."""
        sent = sum(len(str(m.content)) for m in messages) // 3 if self.greedy else 10
        answered = allowed if self.greedy else 5
        return {
            "input_tokens": sent,
            "output_tokens": answered,
            "total_tokens": sent + answered,
        }


class Scripted(LLMProvider):
    """The model `turns`; the testkit, where it is installed, has one called `scripted`."""

    name = "turns"
    summary = "plays given turns"
    model_patterns = ("turns", "turns-*")
    per_run = True

    class Options(LLMOptions):
        turns: list = Field(default_factory=list)
        greedy: bool = False
        prices: list = Field(default_factory=list)
        """US dollars for a million tokens, in and out; a dollar for 1,000 tokens without."""

    def create(self, model, temperature, context):
        made = ScriptedModel(turns=self.options.turns, greedy=self.options.greedy)
        made._context = context
        return made

    def cost_usd(self, model, usage):
        if self.options.prices:
            price_in, price_out = self.options.prices
            return (usage["input_tokens"] * price_in + usage["output_tokens"] * price_out) / 1e6
        return usage["total_tokens"] / 1000


class BrokenModel(ScriptedModel):
    """Raises what no provider should."""

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        raise RuntimeError("no wire")


class Broken(LLMProvider):
    """The model `broken`: fails at every call, or ends the process in one of its methods."""

    name = "broken"
    summary = "fails at every call"
    model_patterns = ("broken",)

    class Options(LLMOptions):
        exits_in: str = ""

    def warm_up(self):
        if self.options.exits_in == "warm_up":
            sys.exit(3)

    def create(self, model, temperature, context):
        if self.options.exits_in == "create":
            sys.exit(3)
        return BrokenModel(turns=[])


class Asks:
    """A gate that wants a person asked about one tool, where the configuration names one."""

    class Options(BaseModel, extra="forbid"):
        about: str = ""

    def __init__(self, options):
        self.about = options.about

    @hookimpl
    def before_tool(self, call):
        return GateDecision("ask", "to be sure") if call.name == self.about else None


class Look(Tool):
    """Reads a file."""

    name = "look"
    description = "Read a file."

    class Args(ToolArgs):
        path: str

    async def run(self, args, context):
        return ToolResult(context.workspace.read_bytes(args.path).decode())


class Put(Tool):
    """Writes a file, and notes in the run's folder that it did."""

    name = "put"
    description = "Write a file."
    needs = frozenset({"write"})

    class Args(ToolArgs):
        path: str
        text: str

    async def run(self, args, context):
        with (context.run_dir / "put").open("a") as log:
            log.write(f"{args.path}\n")
        context.workspace.write_bytes(args.path, args.text.encode())
        return ToolResult("written")


class Meddle(Tool):
    """Writes a file past retrai, as a neighbour would, and claims to read only."""

    name = "meddle"
    description = "Write a file."
    needs = frozenset({"read"})

    class Args(ToolArgs):
        path: str
        text: str

    async def run(self, args, context):
        (context.project / args.path).write_text(args.text)
        return ToolResult("nothing happened")


class Shell(Tool):
    """Runs a shell line in the sandbox."""

    name = "shell"
    description = "Run a shell line."
    needs = frozenset({"read", "write", "run"})

    class Args(ToolArgs):
        line: str

    async def run(self, args, context):
        done = await context.sandbox.run(args.line, timeout_s=20)
        return ToolResult(done.stdout + done.stderr, ok=done.exit_code == 0)


class Meet(Tool):
    """Returns when as many calls as `people` are waiting at once."""

    name = "meet"
    description = "Wait for the others."
    waiting = 0
    met: asyncio.Event

    class Args(ToolArgs):
        people: int

    def __init__(self, options, context):
        super().__init__(options, context)
        self.met = asyncio.Event()

    async def run(self, args, context):
        self.waiting += 1
        if self.waiting == args.people:
            self.met.set()
        async with asyncio.timeout(10):
            await self.met.wait()
        return ToolResult("met")


class Hang(Tool):
    """Says that it runs by making a file in the run's folder, and never returns."""

    name = "hang"
    description = "Never return."
    needs = frozenset({"run"})

    class Options(ToolOptions):
        limit_s: float = 900.0

    async def run(self, args, context):
        Path(context.run_dir / "hanging").touch()
        await asyncio.Event().wait()
        return ToolResult("never")


class Crash(Tool):
    """Ends the process, with a last word."""

    name = "crash"
    description = "End everything."

    class Args(ToolArgs):
        code: int

    async def run(self, args, context):
        print("last words", flush=True)
        os._exit(args.code)


class Burst(Tool):
    """Returns `chars` characters; it was written without a thought of 0 and of negative numbers."""

    name = "burst"
    description = "Say a lot."

    class Args(ToolArgs):
        chars: int

        @field_validator("chars")
        @classmethod
        def _positive(cls, value):
            if value < 0:
                raise RuntimeError("fewer than nothing")
            return value

    def summary(self, args):
        return f"{1000 // args.chars} in a thousand"

    async def run(self, args, context):
        return ToolResult("0123456789" * (args.chars // 10))


class TalkState(TypedDict, total=False):
    """Everything that a run of `talk` knows."""

    messages: list
    circles: int
    told: list
    note: str


class Talk(Agent):
    """Lets the model call tools until it only talks, and ends with what it said."""

    name = "talk"
    summary = "calls tools until the model only talks"
    requires_goal = False
    default_tools = ("look",)

    class Input(AgentInput):
        question: str = Field(min_length=1)
        asks: list[str] = Field(default_factory=list)
        """The keys of questions that the first node asks."""
        data: list = Field(default_factory=list)
        """What is put into the result; an unknown word stands for what is no JSON."""
        circles: int = 0
        """How many nodes the graph goes through before anything else."""

    def build_graph(self, checkpointer):
        from langgraph.graph import START, StateGraph

        graph = StateGraph(TalkState)
        for node in (self.begin, self.circle, self.think, self.act):
            graph.add_node(node.__name__, node)
        graph.add_edge(START, "begin")
        graph.add_edge("begin", "circle")
        graph.add_conditional_edges("circle", self.after_circle)
        graph.add_conditional_edges("think", self.after_think)
        graph.add_edge("act", "think")
        return graph.compile(checkpointer=checkpointer)

    async def initial_state(self, context, previous):
        from langchain_core.messages import HumanMessage

        before = [HumanMessage(f"Before: {previous.output}")] if previous else []
        return {"messages": [*before, HumanMessage(context.input.question)], "circles": 0}

    async def begin(self, state):
        answers = [await self.context.ask(key, f"{key}?") for key in self.context.input.asks]
        told = [answer and (answer.choice or answer.text) for answer in answers]
        self.context.progress("answers", {"told": told})
        return {**state, "told": told}

    def circle(self, state):
        if state["circles"] < self.context.input.circles:
            self.context.max_iterations += 1  # as a person who lets it go on would
        return {**state, "circles": state["circles"] + 1}

    def after_circle(self, state) -> Literal["circle", "think"]:
        return "circle" if state["circles"] <= self.context.input.circles else "think"

    async def think(self, state):
        self.context.iteration = sum(message.type == "ai" for message in state["messages"])
        answer = await self.context.model().ainvoke(state["messages"])
        return {**state, "messages": [*state["messages"], answer]}

    def after_think(self, state) -> Literal["act", "__end__"]:
        return "act" if state["messages"][-1].tool_calls else "__end__"

    async def act(self, state):
        results = await self.context.call_tools(state["messages"][-1])
        return {**state, "messages": [*state["messages"], *results]}

    def resume(self, state, context):
        note = f"resumed before {','.join(context.pending) or 'nothing'}"
        return StateUpdate({**state, "note": note}, as_node="" if context.pending else "circle")

    def result(self, state):
        last = state["messages"][-1].text
        data = {"note": state.get("note", ""), "told": state["told"]}
        if self.context.input.data:
            data["data"] = object()
        return AgentResult("answered", "it has talked", last, data)
