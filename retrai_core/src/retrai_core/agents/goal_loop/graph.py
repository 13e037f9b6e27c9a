"""The goal loop as an agent: plan -> act -> evaluate -> (human check) -> plan ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ...contracts.agent import Agent, AgentInput, AgentResult, StateUpdate
from ...contracts.context import MissingPartError, RunContext

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from ...contracts.record import Limits
    from .state import AgentState

T = TypeVar("T")


class GoalLoopInput(AgentInput):
    """Input of the goal loop in addition to the goal."""

    task: str = ""
    """Extra text for the model in addition to the goal, such as an issue."""


class GoalLoopAgent(Agent):
    """retrai's own agent: works until the check says that the goal passes.

    To build another agent over `AgentState`, inherit from this class and combine `LoopSteps` with
    nodes of your own.
    """

    name = "goal-loop"
    summary = "plans, acts and evaluates until the goal passes"
    default_model = "offline"
    steps_per_iteration: int = 4
    """The most nodes that one iteration may go through; a graph that takes more is ended."""
    Input = GoalLoopInput

    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The loop as a LangGraph graph over `AgentState`."""
        from langgraph.graph import START, StateGraph  # slow to import, and only needed here

        from .plan import plan_and_go
        from .state import AgentState
        from .steps import LoopSteps

        graph: Any = StateGraph(AgentState)  # its own annotations are only partly known
        graph.add_node("plan", plan_and_go)
        graph.add_node("act", LoopSteps.act)
        graph.add_node("evaluate", LoopSteps.evaluate)
        graph.add_node("human_check", LoopSteps.human_check)
        graph.add_edge(START, "plan")
        graph.add_edge("act", "evaluate")
        graph.add_conditional_edges("evaluate", _at_once(LoopSteps.route_after_evaluate))
        graph.add_conditional_edges("human_check", _at_once(LoopSteps.route_after_human_check))
        return graph.compile(checkpointer=checkpointer)

    async def initial_state(
        self, context: RunContext, previous: AgentResult | None
    ) -> Mapping[str, Any]:
        """The goal, the task, what the check says, and the project's key files."""
        from .initial_state import fresh_state

        if context.baseline is None:
            raise MissingPartError("the goal loop begins with a check, and there was none")
        return fresh_state(context, context.baseline)

    def resume(self, state: Mapping[str, Any], context: RunContext) -> StateUpdate | None:
        """Go on behind the last evaluation, with what the run may use now."""
        from .outcome import sound_state
        from .progress import fresh_progress

        known = sound_state(state, self)
        context.iteration = known["iteration"]
        if not context.pending and known["goal_achieved"]:
            # Killed before its record could say so: look again, so that the record has the
            # evidence.
            context.iteration -= 1
            again = {"iteration": context.iteration, "goal_achieved": False}
            return StateUpdate(again, as_node="act")
        if context.pending and not known.get("stop"):
            return None
        values = {"max_iterations": context.max_iterations, "hitl_enabled": context.hitl_enabled}
        values |= {"stop": None, "model_failures": 0, "idle_turns": 0}
        return StateUpdate({**values, "progress": fresh_progress()}, as_node="evaluate")

    def recursion_limit(self, limits: Limits) -> int:
        """As many nodes as the iterations may take."""
        return self.steps_per_iteration * (limits.max_iterations or 0) + 100

    def result(self, state: Mapping[str, Any]) -> AgentResult:
        """Done, or why not; the check has the last word."""
        from .outcome import sound_state

        known = sound_state(state, self)
        stop = known["stop"]
        if stop is None:
            status = "answered" if known["goal_achieved"] else "failed"
            return AgentResult(status, known["goal_reason"])
        outcome = stop["outcome"]
        return AgentResult(outcome if outcome in ("stuck", "budget") else "failed", stop["reason"])


def completed(cls: type[Agent]) -> type[Agent]:
    """The class itself, or that of retrai 0.1 with the goal loop's methods.

    There an agent was no more than a graph over `AgentState`.
    """
    if cls.initial_state is not Agent.initial_state or cls.result is not Agent.result:
        return cls
    own = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    bases: Any = (cls, GoalLoopAgent)
    return type(cls.__name__, bases, own)


def _at_once(router: Callable[[AgentState], T]) -> Callable[[AgentState], Any]:
    """The router on the event loop: LangGraph hands a plain function to a thread, for nothing."""

    @wraps(router)
    async def route(state: AgentState) -> T:
        return router(state)

    return route
