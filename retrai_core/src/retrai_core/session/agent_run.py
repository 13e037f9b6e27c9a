"""Runs an agent's graph: from its first state, or on from where it stopped, to what it came to."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..assembling import Assembled, Kept, assemble, give_models
from ..chosen import Choice
from ..contracts.agent import Agent, AgentResult, StateUpdate
from ..events import AgentEvent
from ..loop.ending import ending, sound_state, verdict
from ..loop.graph import GoalLoopAgent
from ..loop.spending import used_by_agent
from ..loop.steadiness import SHOWN as FLAKY_NAMED
from ..plugins.answers import problem
from ..plugins.blame import WrongAnswerError
from ..runs.record import CheckEvidence, Limits, RunRecord, Status
from ..wiring import Wired

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from ..loop.state import AgentState

Graph = Any
"""A compiled LangGraph graph, whose own annotations are only partly known."""

_WHOLE_STATE = "__root__"
"""LangGraph's channel of a state without channels by key (`StateGraph(dict)`)."""
_INTERRUPTED = (
    "its graph stops before its end: where it uses interrupt(), use `await context.ask()`"
)


class AgentRun:
    """One agent's graph in one run.

    Args:
        choice: what the run is built from.
        wired: the parts.
        record: gets what the agent came to; the caller saves it.
        kept: what the run keeps.
        read_log: the run's events so far, this process's part of them too.
        previous: what the run came to that this one continues.

    Attributes:
        messages: the conversation of the goal loop, once there is one.
    """

    def __init__(
        self,
        choice: Choice,
        wired: Wired,
        record: RunRecord,
        kept: Kept,
        read_log: Callable[[], Awaitable[Sequence[AgentEvent]]],
        previous: AgentResult | None = None,
    ) -> None:
        self._choice = choice
        self._wired = wired
        self._record = record
        self._kept = kept
        self._read_log = read_log
        self._previous = previous
        self._assembled: Assembled | None = None
        self.messages: list[AnyMessage] = []

    def take_model(self, temperature: float) -> None:
        """Ask the context's model from the next question on.

        Raises:
            RetraiError: it cannot be made.
        """
        if self._assembled is not None:
            with_tools = give_models(self._wired, temperature)
            if self._assembled.parts is not None:
                self._assembled.parts.asking.model = with_tools

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
        assembled = self._assembled
        assert assembled is not None
        limit = 0
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
                            assembled.steps.begin(task["name"])
                    break
                except GraphRecursionError:
                    start = None  # the run may have been given more meanwhile
        except BaseException as error:
            # Whatever is wrong with the state too, the first error is the one to tell.
            with contextlib.suppress(Exception):
                await self._take(graph, config, assembled)
            if isinstance(error, Exception) and type(error).__module__.startswith("langgraph."):
                raise _graph_error(self._wired.agent, error) from error
            raise
        values = await self._take(graph, config, assembled)
        if values is None:
            raise WrongAnswerError(self._wired.agent, "its graph ends without a state")
        return await self._ended(values, assembled)

    async def _prepared(
        self, saver: BaseCheckpointSaver[Any], *, resume: bool
    ) -> tuple[Graph, dict[str, Any], Any]:
        """The graph, its configuration, and what it is to be started with."""
        wired, context = self._wired, self._wired.context
        agent = wired.agent
        assembled = self._assembled = await assemble(self._choice, wired, self._kept)
        graph = _built_graph(agent, saver)
        config: dict[str, Any] = {
            "configurable": {
                "thread_id": context.run_id,
                "context": context,
                "parts": assembled.parts,
            }
        }
        known = await graph.aget_state(config) if resume else None
        if known is None or not known.values:
            start: Any = await agent.initial_state(context, self._previous)
            first = start
        else:
            context.pending = tuple(task.name for task in known.tasks)
            update = agent.resume(known.values, context)
            start = await _changed(graph, config, update)
            first = (await graph.aget_state(config)).values if update else known.values
        if resume:
            wired.spending.go_on(await self._read_log(), _loop_state(agent, first))
        return graph, config, start

    def _next_limit(self, before: int) -> int:
        """How many nodes may run; more than before where the run was given more meanwhile.

        Raises:
            WrongAnswerError: it was not, and the graph has run so many.
        """
        agent, iterations = self._wired.agent, self._wired.context.max_iterations
        limits = self._record.limits.model_copy(update={"max_iterations": iterations})
        limit = _recursion_limit(agent, limits)
        if before >= limit:
            raise WrongAnswerError(
                agent,
                f"its graph cannot be run: GraphRecursionError: it did not end within {limit} "
                "nodes",
            )
        return limit

    async def _take(
        self, graph: Graph, config: dict[str, Any], assembled: Assembled
    ) -> Mapping[str, Any] | None:
        """Note what the graph came to; None when it was stopped before the first step was kept."""
        record, wired, parts = self._record, self._wired, assembled.parts
        unheard = parts is not None and await parts.asking.drop()
        record.refused += [line for line in assembled.caller.denied if line not in record.refused]
        if parts is not None:
            record.findings = sorted({*record.findings, *parts.findings})
        record.iterations = wired.context.iteration
        snapshot = await graph.aget_state(config)
        if not snapshot.values:
            return None
        state = _loop_state(wired.agent, snapshot.values)
        if state is not None:
            wired.spending.agent = used_by_agent(state)
            if unheard:
                wired.spending.go_on(await self._read_log(), state)
            self.messages = state["messages"]
            record.iterations = state["iteration"]
            if state["stop"] is not None:
                record.note_stop(state["stop"])
        self._note_last_check()
        if snapshot.interrupts:
            raise WrongAnswerError(wired.agent, _INTERRUPTED)
        return snapshot.values

    async def _ended(self, values: Mapping[str, Any], assembled: Assembled) -> tuple[Status, str]:
        record, context, parts = self._record, self._wired.context, assembled.parts
        result = self._wired.agent.result(values)
        record.output = context.redact(result.output)
        try:
            record.data = json.loads(json.dumps(context.redactor.value(result.data)))
        except (TypeError, ValueError) as error:
            what = f"result() returned data that is no JSON object: {error}"
            raise WrongAnswerError(self._wired.agent, what) from error
        if parts is None:
            return result.status, result.reason or result.status
        state = _loop_state(self._wired.agent, values)
        if state is not None:
            word = await ending(parts, state, self._choice.agent.record)
        else:
            word = await verdict(parts, values, result)
        record.findings = sorted({*record.findings, *parts.findings})
        self._note_last_check()
        return word

    def _note_last_check(self) -> None:
        verifier = self._kept.verifier
        if verifier is None:
            return
        evidence, last = self._record.evidence, verifier.last
        if verifier.flaky is not None:
            evidence.flaky = list(verifier.flaky.cases)[:FLAKY_NAMED]
        if last is not None:
            evidence.after = CheckEvidence.of(last.achieved, last.reason, last.report)


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
