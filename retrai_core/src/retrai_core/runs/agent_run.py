"""Runs an agent's graph from its first state, or from where it stopped, to its result."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel

from ..agents.counted_model import Account, AgentModel
from ..agents.goal_loop import prompt
from ..agents.goal_loop.graph import GoalLoopAgent
from ..agents.goal_loop.outcome import ending, sound_state, verdict
from ..agents.goal_loop.parts import LoopParts
from ..agents.loop_watchdog import BlockedLoopWatch
from ..agents.node_calls import NodeCalls
from ..agents.tool_call import ToolCaller
from ..agents.tool_schema import schema
from ..contracts.agent import Agent, AgentResult, StateUpdate
from ..contracts.record import Limits, Status
from ..contracts.store import Journal
from ..plugins.answers import problem
from ..plugins.error_attribution import WrongAnswerError
from ..verification.behaviour import NEIGHBORS
from .holder import Holder
from .run_end import config_of
from .session import RunSession
from .system_prompt import system_prompt
from .tool_gates import ToolGates
from .useless_settings import useless_settings

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from ..agents.goal_loop.state import AgentState

Graph = Any
"""A compiled LangGraph graph, whose own annotations are only partly known."""

_WHOLE_STATE = "__root__"
"""LangGraph's channel of a state without channels by key (`StateGraph(dict)`)."""
_INTERRUPTED = (
    "its graph stops before its end: where it uses interrupt(), use `await context.ask()`"
)


class _OutOfNodesError(Exception):
    """The graph has reached the run's limit of nodes."""


class AgentRun:
    """One agent's graph in one run.

    Args:
        session: the run's parts.
        holder: its record gets what the agent came to; the caller saves it.
        journal: remembers tool calls.
        watch: ends what blocks the event loop.
        previous: what the run came to that this one continues.

    Attributes:
        messages: the conversation of the goal loop, once there is one.
        tried: what it tried lately, each with what the check said to it.
    """

    def __init__(
        self,
        session: RunSession,
        holder: Holder,
        journal: Journal,
        watch: BlockedLoopWatch,
        previous: AgentResult | None = None,
    ) -> None:
        self._session = session
        self._holder = holder
        self._record = holder.record
        self._previous = previous
        context, guard, hooks = session.context, session.guard, session.hooks
        self._caller = ToolCaller(
            context,
            journal,
            watch,
            gate=ToolGates(hooks, context).decide if hooks.implementers("before_tool") else None,
            guard=guard,
            expect_changes=session.verifier.expect_changes if session.verifier else None,
        )
        context.calling_part = NodeCalls(context, self._caller)
        self._parts: LoopParts | None = None
        self.messages: list[AnyMessage] = []
        self.tried: Sequence[str] = ()

    def take_model(self, temperature: float) -> None:
        """Ask the context's provider from the next request on.

        Raises:
            RetraiError: it cannot be made.
        """
        context, spending = self._session.context, self._session.spending
        model = context.provider.create(context.model_name, temperature, context)
        if not isinstance(cast("object", model), BaseChatModel):
            what = f"create() returned {problem(model, BaseChatModel)}"
            raise WrongAnswerError(context.provider, what)
        account = Account(context, spending, context.model_name, context.provider, beside=False)
        provider = self._session.resolved.provider
        title = "the provider" if provider is None else f"the provider {provider.record.full_name}"
        plain = AgentModel(model=model, account=account, context=context, title=title)
        tools = [schema(tool) for tool in context.tools.values()]
        try:
            self._model: AgentModel = plain.bind_tools(tools)
        except NotImplementedError as error:
            what = "create() returned a model without bind_tools, which cannot call tools"
            raise WrongAnswerError(context.provider, what) from error
        context.agent_model_part = {True: self._model, False: plain}.__getitem__
        if self._parts is not None:
            self._parts.model = self._model

    async def _loop_parts(self) -> LoopParts | None:
        """What the goal loop's nodes work with; None in a run without a goal."""
        session, resolved = self._session, self._session.resolved
        context, guard, verifier = session.context, session.guard, session.verifier
        if guard is None or verifier is None:
            self.take_model(config_of(self._record).temperature)
            return None
        tools = context.redact(prompt.tool_list(list(context.tools.values())))
        first_message = await system_prompt(session, tools)
        # Nothing is awaited from here on: a model that is chosen meanwhile would be lost.
        self.take_model(config_of(self._record).temperature)
        return LoopParts(
            context=context,
            guard=guard,
            caller=self._caller,
            snapshots=session.snapshots,
            verifier=verifier,
            model=self._model,
            system_prompt=first_message,
            spending=session.spending,
            max_tampering=resolved.config.max_tampering,
            neighbors=NEIGHBORS if resolved.config.behaviour else 0,
        )

    async def go(self, saver: BaseCheckpointSaver[Any], *, resume: bool) -> tuple[Status, str]:
        """Run the graph to its end: the status and the reason in one line.

        Args:
            saver: keeps the checkpoints.
            resume: go on from the last one, where there is one.

        Raises:
            WrongAnswerError: the agent, or its graph, breaks its contract.
        """
        from langgraph.errors import GraphRecursionError

        graph, config, start = await self._prepared(saver, resume=resume)
        context, limit = self._session.context, 0
        try:
            while True:
                limit = self._next_limit(limit)
                tasks = graph.astream(
                    start,
                    {**config, "recursion_limit": limit},
                    stream_mode="tasks",
                    durability="sync",  # a step is on disk before the next; `exit` would lose all
                )
                try:
                    async for task in tasks:
                        if "triggers" in task:  # it begins; what it gave comes as another one
                            context.publish(
                                "step_start", node=task["name"], iteration=context.iteration
                            )
                        else:
                            await self._save_use()
                    break
                except GraphRecursionError:
                    start = None  # the run may have been given more meanwhile
        except BaseException as error:
            # Whatever is wrong with the state too, the first error is the one to tell.
            with contextlib.suppress(Exception):
                stopped_at = await self._take(graph, config)
                if stopped_at is not None:
                    self._keep(self._session.agent.partial_result(stopped_at))
            if isinstance(error, _OutOfNodesError):
                return "failed", str(error)
            if isinstance(error, Exception) and type(error).__module__.startswith("langgraph."):
                raise _graph_error(self._session.agent, error) from error
            raise
        values = await self._take(graph, config)
        if values is None:
            raise WrongAnswerError(self._session.agent, "its graph ends without a state")
        return await self._ended(values)

    async def _save_use(self) -> None:
        """Keep how far the run has come and what it has used, for those who list runs meanwhile."""
        record, before = self._record, (self._record.iterations, self._record.tokens)
        record.iterations = self._session.context.iteration
        self._session.spending.note_in(record)
        if (record.iterations, record.tokens) != before:
            await self._holder.save()

    async def _prepared(
        self, saver: BaseCheckpointSaver[Any], *, resume: bool
    ) -> tuple[Graph, dict[str, Any], Any]:
        """The graph, its configuration, and what it is to be started with."""
        session, context, agent = self._session, self._session.context, self._session.agent
        for line in useless_settings(session):
            context.publish("log", level="warning", message=line)
        self._parts = await self._loop_parts()
        graph = _built_graph(agent, saver)
        config: dict[str, Any] = {
            "configurable": {
                "thread_id": context.run_id,
                "context": context,
                "parts": self._parts,
            }
        }
        known = await graph.aget_state(config) if resume else None
        if known is None or not known.values:
            start: Any = await agent.initial_state(context, self._previous)
        else:
            context.pending = tuple(task.name for task in known.tasks)
            start = await _changed(graph, config, agent.resume(known.values, context))
        return graph, config, start

    def _next_limit(self, before: int) -> int:
        """How many nodes may run; more than before where the run was given more meanwhile.

        Raises:
            _OutOfNodesError: it was not, and the graph has run so many.
        """
        agent, iterations = self._session.agent, self._session.context.max_iterations
        limits = self._record.limits.model_copy(update={"max_iterations": iterations})
        limit = _recursion_limit(agent, limits)
        if before >= limit:
            raise _OutOfNodesError(
                f"the agent {agent.name} did not end within {limit} nodes (max_iterations: "
                f"{iterations})"
            )
        return limit

    async def _take(self, graph: Graph, config: dict[str, Any]) -> Mapping[str, Any] | None:
        """Note what the graph came to; None when it was stopped before the first step was kept."""
        record, session, parts = self._record, self._session, self._parts
        record.refused += [line for line in self._caller.denied if line not in record.refused]
        if parts is not None:
            record.findings = sorted({*record.findings, *parts.findings})
        record.iterations = session.context.iteration
        snapshot = await graph.aget_state(config)
        if not snapshot.values:
            return None
        state = _loop_state(session.agent, snapshot.values)
        if state is not None:
            self.messages, self.tried = state["messages"], state["failed_strategies"]
            record.iterations = state["iteration"]
            if state["stop"] is not None:
                record.note_stop(state["stop"])
        self._note_last_check()
        if snapshot.interrupts:
            raise WrongAnswerError(session.agent, _INTERRUPTED)
        return snapshot.values

    async def _ended(self, values: Mapping[str, Any]) -> tuple[Status, str]:
        record, parts = self._record, self._parts
        result = self._session.agent.result(values)
        self._keep(result)
        agent = self._session.resolved.agent
        if parts is None or agent is None:
            return result.status, result.reason or result.status
        state = _loop_state(self._session.agent, values)
        if state is not None:
            word = await ending(parts, state, agent.record)
        else:
            word = await verdict(parts, values, result)
        record.findings = sorted({*record.findings, *parts.findings})
        self._note_last_check()
        return word

    def _keep(self, result: AgentResult | None) -> None:
        """Put what the agent came to into the record; the caller saves it.

        Raises:
            WrongAnswerError: its data is no JSON object.
        """
        if result is None:
            return
        record, context = self._record, self._session.context
        try:
            data = json.loads(json.dumps(context.redactor.value(result.data)))
        except (TypeError, ValueError) as error:
            what = f"result() returned data that is no JSON object: {error}"
            raise WrongAnswerError(self._session.agent, what) from error
        record.output, record.data = context.redact(result.output), data

    def _note_last_check(self) -> None:
        if self._session.verifier is not None:
            self._session.verifier.note_in(self._record)


def _recursion_limit(agent: Agent, limits: Limits) -> int:
    limit = agent.recursion_limit(limits)
    if limit < 1:
        raise WrongAnswerError(agent, f"recursion_limit() returned {limit}, not a positive number")
    return limit


def _built_graph(agent: Agent, saver: BaseCheckpointSaver[Any]) -> Graph:
    from langgraph.pregel import Pregel

    graph: Graph = agent.build_graph(saver)
    if wrong := problem(graph, Pregel):
        raise WrongAnswerError(agent, f"build_graph() returned {wrong}: compile it")
    if not graph.checkpointer:
        raise WrongAnswerError(agent, "build_graph() returned a graph without the checkpointer")
    return graph


async def _changed(graph: Graph, config: dict[str, Any], update: StateUpdate | None) -> Any:
    """Bring the agent's change into the state; what the graph is to be started with."""
    from langgraph.types import Command

    if update is None:
        return None
    values: Any = dict(update.values)
    if not update.as_node:
        if values and _WHOLE_STATE in graph.channels:
            values = [(_WHOLE_STATE, values)]
        return Command(update=values) if values else None
    node = update.as_node if update.as_node in graph.nodes else "__start__"
    await graph.aupdate_state(config, values, as_node=node)
    return None


def _graph_error(agent: Agent, error: Exception) -> WrongAnswerError:
    """What LangGraph refuses in a graph is the doing of whoever built it."""
    first_line = next(iter(str(error).splitlines()), "")
    return WrongAnswerError(agent, f"its graph cannot be run: {type(error).__name__}: {first_line}")


def _loop_state(agent: Agent, values: Mapping[str, Any]) -> AgentState | None:
    """The state of an agent that is made of the goal loop; None of one that has its own."""
    return sound_state(values, agent) if isinstance(agent, GoalLoopAgent) else None
