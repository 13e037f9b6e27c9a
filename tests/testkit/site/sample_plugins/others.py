"""Providers, stores, sandboxes, agents, frontends and hooks: a good one and bad ones of each."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading

import click

from retrai_core import (
    Agent,
    Completed,
    EventSink,
    Frontend,
    GateDecision,
    LLMOptions,
    LLMProvider,
    MemoryStore,
    Strategy,
    hookimpl,
)
from retrai_core.agents.goal_loop.graph import GoalLoopAgent
from retrai_sandbox_local.sandbox import LocalSandbox


class GoodEcho(LLMProvider):
    """Says one word."""

    name = "good-echo"
    model_patterns = ("echo:*",)
    per_run = True

    class Options(LLMOptions):
        word: str = "hello"
        """What it says."""

    def create(self, model, temperature, context, api_key=None):
        from langchain_core.language_models import FakeListChatModel

        class Echo(FakeListChatModel):
            def bind_tools(self, tools, **more):
                return self

        return Echo(responses=[self.options.word])

    def ready(self, model):
        return None if os.environ.get("ECHO_KEY") else "ECHO_KEY is not set"


class CrashingReady(GoodEcho):
    name = "crashing-ready"

    def ready(self, model):
        import langchain_core

        assert langchain_core
        return None if os.environ["ECHO_KEY"] else "unset"


class NoChatModel(GoodEcho):
    name = "no-chat-model"

    def create(self, model, temperature, context, api_key=None):
        return lambda prompt: self.options.word

    def cost_usd(self, model, usage):
        return -1.0


class OneModelForAll(GoodEcho):
    name = "one-model-for-all"
    model_patterns = ("*echo*",)
    made = {}

    def create(self, model, temperature, context, api_key=None):
        self.made[context.run_dir] = model
        return self.made.setdefault(model, super().create(model, temperature, context))


class GoodStore(MemoryStore):
    """Keeps one JSON line a strategy."""

    name = "good-store"
    _lock = threading.Lock()

    def _read(self, project):
        path = project / "store.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async def recall(self, goal, project):
        try:
            kept = self._read(project)
        except ValueError as error:
            self.context.publish("log", level="warning", message=f"the store is damaged: {error}")
            return []
        found = {text: 0 for of, text in kept if of == goal}
        for of, text in kept:
            found.update({text: found[text] + 1} if of == goal else {})
        strategies = [Strategy(goal, text, n, n / (n + 1)) for text, n in found.items()]
        return sorted(strategies, key=lambda found: -found.confidence)

    async def learn(self, outcome):
        if outcome.outcome == "achieved":
            line = json.dumps([outcome.goal, f"change {', '.join(outcome.changed_files)}"])
            try:
                with self._lock, (outcome.project / "store.jsonl").open("a") as file:
                    file.write(line + "\n")
            except OSError as error:
                self.context.publish("log", level="warning", message=f"not kept: {error}")


class LosesEntries(GoodStore):
    name = "loses-entries"

    async def learn(self, outcome):
        if outcome.outcome == "achieved":
            (outcome.project / "store.jsonl").write_text(json.dumps([outcome.goal, "x"]) + "\n")


class WorstFirst(GoodStore):
    name = "worst-first"

    async def recall(self, goal, project):
        return list(reversed(await super().recall(goal, project)))


class RaisesOnDamage(GoodStore):
    name = "raises-on-damage"

    async def recall(self, goal, project):
        for of, text in self._read(project):
            return [Strategy(of, text)]
        return []


class LearnsFromFailure(GoodStore):
    name = "learns-from-failure"

    async def learn(self, outcome):
        with (outcome.project / "store.jsonl").open("a") as file:
            file.write(json.dumps([outcome.goal, "whatever"]) + "\n")


class LeakyEnvironment(LocalSandbox):
    """Passes on every variable."""

    name = "leaky-environment"

    async def run(self, command, *, env=None, **more):
        return await super().run(command, env={**os.environ, **(env or {})}, **more)


class NoTimeOut(LocalSandbox):
    """Waits for good, and cuts nothing."""

    name = "no-time-out"

    async def run(self, command, *, timeout_s, limits=None, **more):
        return await super().run(command, timeout_s=4, **more)


class LeavesProcesses(LocalSandbox):
    """Starts processes by itself and forgets them."""

    name = "leaves-processes"

    async def run(self, command, *, timeout_s, cwd=None, **more):
        shell = command if isinstance(command, str) else " ".join(command)
        process = subprocess.Popen(
            ["bash", "-c", shell],
            cwd=cwd or self.context.project,
            stdout=subprocess.DEVNULL,
        )
        for _ in range(int(timeout_s * 50)):
            if process.poll() is not None:
                return Completed(process.returncode, "", "")
            await asyncio.sleep(0.02)
        return Completed(-9, "", "", timed_out=True)


class NoCheckpointer(GoalLoopAgent):
    """Builds a graph that cannot be resumed."""

    name = "no-checkpointer"

    def build_graph(self, checkpointer):
        return super().build_graph(None)


class DoesNothing(Agent):
    """Ends at once."""

    name = "does-nothing"

    def build_graph(self, checkpointer):
        from langgraph.graph import END, START, StateGraph

        from retrai_core.agents.goal_loop.state import AgentState

        graph = StateGraph(AgentState)
        graph.add_node("idle", lambda state: {})
        graph.add_edge(START, "idle")
        graph.add_edge("idle", END)
        return graph.compile(checkpointer=checkpointer)


class GoodCount(Frontend):
    """Counts to a number."""

    name = "good-count"
    summary = "count to a number"

    def command(self):
        @click.command(self.name)
        @click.option("--to", type=int, default=3, help="Where to stop.")
        def count(to):
            """Count to a number."""
            if to < 0:
                raise click.UsageError("--to must not be negative")
            click.echo(" ".join(map(str, range(to))))

        return count


class OtherName(Frontend):
    """Gives a command of another name, without help."""

    name = "other-name"
    summary = "count, somehow"
    one = click.Command("Some Name", params=[click.Option(["--to"])], callback=int)

    def command(self):
        return self.one


class GoodGate:
    """Refuses the network."""

    @hookimpl
    def before_tool(self, call, context):
        return GateDecision("deny", "offline") if "network" in call.needs else None

    @hookimpl
    def system_prompt(self, goal):
        return None


class UnknownArgument:
    """Asks for what no hook gives."""

    @hookimpl
    def before_tool(self, call, weather):
        return None


class WrongAnswers:
    """Answers with texts, changes its arguments, and keeps what it saw."""

    seen = []

    @hookimpl
    def before_tool(self, call, context):
        call.args["changed"] = True
        self.seen.append(call)
        return "deny"

    @hookimpl
    def system_prompt(self, goal):
        return 42


class Misspelt:
    """Means to be a gate."""

    @hookimpl
    def befor_tool(self, call, context):
        return GateDecision("deny", "offline")


class FormerSink:
    """An event sink as it was once."""

    @hookimpl
    def on_event(self, event):
        pass


class GoodSink(EventSink):
    """Counts events."""

    name = "good-sink"
    summary = "counts events"

    def start(self, run):
        self.count = 0

    async def on_event(self, event):
        self.count += 1


class ChoosySink(EventSink):
    """Takes only events that are whole, and keeps them for all runs."""

    name = "choosy-sink"
    summary = "keeps messages"
    seen = []

    def on_event(self, event):
        self.seen.append(event.kind)
        event.payload["message"].strip()


class LeavingSink(EventSink):
    """Starts a thread and forgets it."""

    name = "leaving-sink"
    summary = "starts a thread"

    def start(self, run):
        threading.Thread(target=threading.Event().wait, args=(20,), daemon=True).start()

    def on_event(self, event):
        pass
