"""The human check: a person says whether the run goes on."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import interrupt

from .approval import is_approval
from .parts import parts_of
from .state import AgentState, StateUpdate, Stop


async def human_check(state: AgentState, config: RunnableConfig) -> StateUpdate:
    """Interrupt the run and wait for an answer.

    The node runs again when the run is resumed, so nothing is published before the interrupt: who
    drives the graph publishes the question, once.
    """
    stop = state["stop"]
    suspect = stop is not None and stop.get("suspect", False)
    question = "Go on anyway?" if stop else "Go on?"
    if suspect:
        question = "Every case passes, but the verdict is suspect. Take it as achieved?"
    answer: object = interrupt(
        {"question": question, "reason": stop["reason"] if stop else state["goal_reason"]}
    )
    approved = is_approval(answer)
    parts = parts_of(config)
    parts.context.publish("human_check_response", response=str(answer), approved=approved)
    if not approved:
        ended = Stop(outcome="aborted", reason="ended by a person")
        return {"approved": False, "stop": stop or ended}
    if stop is not None and suspect:
        parts.approved.add(stop["reason"])
        parts.findings.append(f"a person took a suspect verdict as achieved: {stop['reason']}")
        reason = f"{state['goal_reason']}; approved by a person"
        return {"approved": True, "stop": None, "goal_achieved": True, "goal_reason": reason}
    if parts.concluded is not None:  # what ended the run does not end it again
        parts.concluded = replace(parts.concluded, outcome="failed", suspect_of="")
    note = "A person looked at this and wants you to go on."
    return {"approved": True, "stop": None, "messages": [HumanMessage(note)]}
