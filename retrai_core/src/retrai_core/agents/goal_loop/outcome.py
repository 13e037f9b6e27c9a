"""How a run ends: decided by the check on the current tree, else by the agent's state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from ...contracts.agent import Agent, AgentResult
from ...contracts.record import Status
from ...plugins.answers import problem
from ...plugins.error_attribution import WrongAnswerError
from ...plugins.record import PluginRecord
from .evaluate import conclude
from .parts import LoopParts
from .state import AgentState, Stop

_ONLY_THE_CHECK = ("tampered", "flaky")


class _Needed(TypedDict):
    """The keys of `AgentState` that a run needs."""

    messages: list[Any]
    goal_achieved: bool
    goal_reason: str
    iteration: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    estimated_cost_usd: float | None
    stop: Stop | None


def sound_state(values: object, agent: Agent) -> AgentState:
    """The state that the agent's graph has kept.

    Raises:
        WrongAnswerError: it is no `AgentState`.
    """
    if wrong := problem(values, _Needed):
        raise WrongAnswerError(agent, f"the state of its graph is no AgentState: it is {wrong}")
    return cast("AgentState", values)


async def ending(parts: LoopParts, state: AgentState, agent: PluginRecord) -> tuple[Status, str]:
    """The outcome and its reason; achieved, tampered and flaky are for the check alone to say.

    Args:
        parts: the run's parts, which know what the check said last.
        state: the state at the end, which any node of any agent may have written.
        agent: the agent, for what it says and the check does not.
    """
    word, stop = await conclude(parts, state), state["stop"]
    if word.suspect_of and word.reason in parts.approved:
        return "achieved", f"{word.suspect_of}, but {word.reason}; approved by a person"
    if word.outcome != "failed":
        return word.outcome, word.reason
    who = f"the agent {agent.name} of {agent.dist} {agent.version}"
    if state["goal_achieved"]:
        return "failed", f"{who} says that the goal is achieved, but the check says: {word.reason}"
    if stop is None:
        used = "1 iteration" if state["iteration"] == 1 else f"{state['iteration']} iterations"
        return "failed", f"{used} used up; {word.reason or state['goal_reason']}"
    said = parts.concluded.outcome if parts.concluded is not None else ""
    if stop["outcome"] in _ONLY_THE_CHECK and said != stop["outcome"]:
        told = f"{who} ends the run as {stop['outcome']} ({stop['reason']})"
        return "error", f"{told}, which only the check can say"
    return stop["outcome"], stop["reason"]


async def verdict(
    parts: LoopParts, state: Mapping[str, Any], result: AgentResult
) -> tuple[Status, str]:
    """The status and its reason of a run whose agent has a state of its own: the check is asked.

    Args:
        parts: the run's parts.
        state: the state at the end, for the goal.
        result: what the agent came to; it counts where the goal does not hold.
    """
    asked = {"iteration": parts.context.iteration, **state, "goal_achieved": True}
    word = await conclude(parts, cast("AgentState", asked))
    if word.outcome != "failed":
        return word.outcome, word.reason
    status = "failed" if result.status == "answered" else result.status
    return status, "; ".join(filter(None, [result.reason, word.reason]))
