"""The goal loop as an agent: plan -> act -> evaluate -> (human check) -> plan ..."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ..contracts.agent import Agent

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from .state import AgentState

T = TypeVar("T")


class GoalLoopAgent(Agent):
    """retrai's own agent: works until the check says that the goal holds."""

    name = "goal-loop"
    summary = "plan, act, evaluate, until the check says that the goal holds"

    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The loop as a LangGraph graph over `AgentState`."""
        from langgraph.graph import START, StateGraph  # slow to import, and only needed here

        from .act import act
        from .going_on import evaluate_and_ask, plan_and_go
        from .human_check import human_check
        from .routers import after_evaluate, after_human_check
        from .state import AgentState

        graph: Any = StateGraph(AgentState)  # its own annotations are only partly known
        graph.add_node("plan", plan_and_go)
        graph.add_node("act", act)
        graph.add_node("evaluate", evaluate_and_ask)
        graph.add_node("human_check", human_check)
        graph.add_edge(START, "plan")
        graph.add_edge("act", "evaluate")
        graph.add_conditional_edges("evaluate", _at_once(after_evaluate))
        graph.add_conditional_edges("human_check", _at_once(after_human_check))
        return graph.compile(checkpointer=checkpointer)


def _at_once(router: Callable[[AgentState], T]) -> Callable[[AgentState], Any]:
    """The router on the event loop: LangGraph hands a plain function to a thread, for nothing."""

    @wraps(router)
    async def route(state: AgentState) -> T:
        return router(state)

    return route
