"""The steps of the goal loop, for agents that combine them differently."""

from __future__ import annotations

from .act import act
from .evaluate import evaluate
from .human_check import human_check
from .plan import plan
from .routers import route_after_evaluate, route_after_human_check, should_call_tools


class LoopSteps:
    """The nodes of the goal loop, and the routers between them, over `AgentState`.

    A graph of these nodes keeps the guarantees of a run: limits, tool gates, the journal, and
    verdicts that only the guard gives. Importing this class imports langgraph: do it in
    `build_graph`.

    Attributes:
        plan: asks the model; its tool calls are then in `state["pending_tool_calls"]`.
        act: runs the pending calls.
        evaluate: asks the guard for a verdict and counts the iteration.
        human_check: asks a person, and waits for the answer.
        should_call_tools: `act` or `evaluate`.
        route_after_evaluate: `plan`, `human_check` or the end; only this router knows the
            limits.
        route_after_human_check: `plan` or the end.

    Example:
        >>> from langgraph.graph import START, StateGraph
        >>> from retrai_core import AgentState, LoopSteps
        >>> graph = StateGraph(AgentState)
        >>> for name in ("plan", "act", "evaluate", "human_check"):
        ...     _ = graph.add_node(name, getattr(LoopSteps, name))
        >>> _ = graph.add_edge(START, "evaluate")  # check first, then work
        >>> _ = graph.add_conditional_edges("plan", LoopSteps.should_call_tools)
        >>> _ = graph.add_edge("act", "evaluate")
        >>> _ = graph.add_conditional_edges("evaluate", LoopSteps.route_after_evaluate)
        >>> _ = graph.add_conditional_edges("human_check", LoopSteps.route_after_human_check)
        >>> sorted(graph.compile().nodes)
        ['__start__', 'act', 'evaluate', 'human_check', 'plan']
    """

    plan = staticmethod(plan)
    act = staticmethod(act)
    evaluate = staticmethod(evaluate)
    human_check = staticmethod(human_check)
    should_call_tools = staticmethod(should_call_tools)
    route_after_evaluate = staticmethod(route_after_evaluate)
    route_after_human_check = staticmethod(route_after_human_check)
    # As plugins of retrai 0.1 name them.
    after_plan = should_call_tools
    after_evaluate = route_after_evaluate
    after_human_check = route_after_human_check
