"""The goal loop's own nodes: steps that know where the loop goes next, and hurry it there."""

from __future__ import annotations

from typing import Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from .evaluate import evaluate
from .parts import parts_of
from .plan import plan
from .routers import route_after_evaluate, should_call_tools
from .state import AgentState, NodeUpdate, append_messages


async def plan_and_go(
    state: AgentState, config: RunnableConfig
) -> Command[Literal["act", "evaluate"]]:
    """`plan`, and on to what follows it; a router would copy the whole state to see that."""
    update = await plan(state, config)
    return Command(update=update, goto=should_call_tools(cast("AgentState", {**state, **update})))


async def evaluate_and_ask(state: AgentState, config: RunnableConfig) -> NodeUpdate:
    """`evaluate`; where `plan` follows, its question is on the way before this step is kept.

    A kill in between costs the question alone, since no tool has run.
    """
    update = await evaluate(state, config)
    messages = append_messages(state["messages"], [update.get("messages", [])])
    following = cast("AgentState", {**state, **update, "messages": messages})
    if route_after_evaluate(following) == "plan":
        parts_of(config).asking.begin(following)
    return update
