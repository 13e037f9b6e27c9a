"""The goal loop as an agent: plan -> act -> evaluate -> (human check) -> plan ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..contracts.agent import Agent

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph


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
        from .evaluate import evaluate
        from .human_check import human_check
        from .plan import plan
        from .routers import after_evaluate, after_human_check, after_plan
        from .state import AgentState

        graph: Any = StateGraph(AgentState)  # its own annotations are only partly known
        graph.add_node("plan", plan)
        graph.add_node("act", act)
        graph.add_node("evaluate", evaluate)
        graph.add_node("human_check", human_check)
        graph.add_edge(START, "plan")
        graph.add_conditional_edges("plan", after_plan)
        graph.add_edge("act", "evaluate")
        graph.add_conditional_edges("evaluate", after_evaluate)
        graph.add_conditional_edges("human_check", after_human_check)
        return graph.compile(checkpointer=checkpointer)
