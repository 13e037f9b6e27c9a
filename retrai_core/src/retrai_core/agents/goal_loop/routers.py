"""The routers: which node of the loop comes next."""

from __future__ import annotations

from typing import Literal

from .state import AgentState

# "__end__" is `langgraph.graph.END`, whose type is not the literal that the annotations need.

_FINAL = frozenset({"error"})
"""An outcome that no person's word can turn: there is nothing to go on with."""


def should_call_tools(state: AgentState) -> Literal["act", "evaluate"]:
    """Pending calls are run first; without any the goal is checked at once."""
    return "act" if state["pending_tool_calls"] else "evaluate"


def route_after_evaluate(state: AgentState) -> Literal["plan", "human_check", "__end__"]:
    """Done, out of iterations, or stopped: the end. Else a person where asked for, else on."""
    stop = state["stop"]
    if stop is not None and stop.get("suspect") and state["hitl_enabled"]:
        return "human_check"  # also after the last iteration: nothing more is to be done
    if state["goal_achieved"] or state["iteration"] >= state["max_iterations"]:
        return "__end__"
    if stop is not None and (stop["outcome"] in _FINAL or not state["hitl_enabled"]):
        return "__end__"
    return "human_check" if state["hitl_enabled"] else "plan"


def route_after_human_check(state: AgentState) -> Literal["plan", "__end__"]:
    """On when approved, else the end; a suspect verdict that was approved is the end too."""
    done = state["goal_achieved"] or state["iteration"] >= state["max_iterations"]
    return "plan" if state["approved"] and not done else "__end__"
