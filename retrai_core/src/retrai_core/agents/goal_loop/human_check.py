"""The human check: a person decides whether the run continues."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from ...contracts.question import APPROVE, Answer, Choice
from ...errors import RetraiError
from .parts import LoopParts, parts_of
from .state import AgentState, NodeUpdate, Stop

_ALWAYS = Choice(id="approve_always", kind="allow_always", label="Go on without asking again")
_ABORT = Choice(id="abort", kind="reject", label="End the run")
_DIFF_CHARS = 20_000


async def human_check(state: AgentState, config: RunnableConfig) -> NodeUpdate:
    """Ask a person, and wait for the answer; where nobody can be asked, the run ends."""
    parts, stop = parts_of(config), state["stop"]
    suspect = stop is not None and stop.get("suspect", False)
    answer = await _ask(parts, state, stop, suspect=suspect)
    if answer is None or not answer.approved:
        who = "ended by a person" if answer is not None else "nobody can be asked here"
        return {"approved": False, "stop": stop or Stop(outcome="aborted", reason=who)}
    update: NodeUpdate = {"approved": True, "stop": None, "asked_at": state["iteration"]}
    if stop is not None and suspect:
        parts.approved.add(stop["reason"])
        parts.findings.append(f"a person took a suspect verdict as achieved: {stop['reason']}")
        reason = f"{state['goal_reason']}; approved by a person"
        return {**update, "goal_achieved": True, "goal_reason": reason}
    if parts.concluded is not None:  # what ended the run does not end it again
        parts.concluded = replace(parts.concluded, outcome="failed", suspect_of="")
    note = "A person looked at this and wants you to go on."
    return {**update, "messages": [HumanMessage(note)]}


async def _ask(
    parts: LoopParts, state: AgentState, stop: Stop | None, *, suspect: bool
) -> Answer | None:
    iteration = state["iteration"]
    data: dict[str, Any] = {
        "reason": stop["reason"] if stop else state["goal_reason"],
        "iteration": iteration,
        "diff": await asyncio.to_thread(_diff_since, parts, state.get("asked_at", 0)),
    }
    key = f"human_check/{iteration}"
    if suspect:
        # An answer is for this suspicion, not for another one that a resumed run finds here.
        key = f"{key}/{hashlib.sha256(data['reason'].encode()).hexdigest()[:8]}"
        question = "Every case passes, but the verdict is suspect. Take it as achieved?"
        choices = (APPROVE, _ABORT)
        return await parts.context.ask(key, question, choices=choices, kind="suspicion", data=data)
    question = "Go on anyway?" if stop else "Go on?"
    choices = (APPROVE, _ABORT) if stop else (APPROVE, _ALWAYS, _ABORT)
    return await parts.context.ask(key, question, choices=choices, kind="iteration", data=data)


def _diff_since(parts: LoopParts, iteration: int) -> str:
    """What the run has changed since the last answer; empty where there are no snapshots."""
    try:
        diff = parts.snapshots.diff(iteration)
    except (RetraiError, OSError):
        return ""
    # Bytes that are no UTF-8 are surrogates there, which JSON for other programs cannot have.
    text = parts.context.redact(diff.encode(errors="replace").decode())
    return text[:_DIFF_CHARS]
