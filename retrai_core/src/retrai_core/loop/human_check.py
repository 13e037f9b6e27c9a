"""The human check: a person says whether the run goes on."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import interrupt

from .parts import parts_of
from .state import AgentState, StateUpdate, Stop
from .tool_call import is_approval


async def human_check(state: AgentState, config: RunnableConfig) -> StateUpdate:
    """Interrupt the run and wait for an answer.

    The node runs again when the run is resumed, so nothing is published before the interrupt: who
    drives the graph publishes the question, once.
    """
    stop = state["stop"]
    question = "Go on anyway?" if stop else "Go on?"
    answer: object = interrupt(
        {"question": question, "reason": stop["reason"] if stop else state["goal_reason"]}
    )
    approved = is_approval(answer)
    parts_of(config).context.publish(
        "human_check_response", response=str(answer), approved=approved
    )
    if approved:
        note = "A person looked at this and wants you to go on."
        return {"approved": True, "stop": None, "messages": [HumanMessage(note)]}
    return {"approved": False, "stop": stop or Stop(outcome="aborted", reason="ended by a person")}
