"""What a killed run has spent beyond its last checkpoint: an answer that was lost was paid for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from ..events import AgentEvent
from .state import AgentState

_Count = Literal["input_tokens", "output_tokens", "total_tokens"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of model calls, and their cost in US dollars; None when a price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_usd: float | None = 0.0


def total_cost(one: float | None, other: float | None) -> float | None:
    """The sum; None when one of them is not known."""
    return None if one is None or other is None else one + other


def lost_usage(events: Iterable[AgentEvent], state: AgentState | None) -> Usage:
    """What the run log says was used, less what the state that a run goes on from knows of.

    Args:
        events: the run's log, which is written before a step is kept.
        state: the last checkpoint's; None before the first.
    """
    calls = [event.payload for event in events if event.kind == "llm_usage"]

    def lost(name: _Count) -> int:
        known = state[name] if state is not None else 0
        return max(0, sum(int(call[name]) for call in calls) - known)

    costs = [cast("float | None", call["cost_usd"]) for call in calls]
    known = state["estimated_cost_usd"] if state is not None else 0.0
    cost = None
    if known is not None and None not in costs:
        cost = max(0.0, sum(cost for cost in costs if cost is not None) - known)
    return Usage(lost("input_tokens"), lost("output_tokens"), lost("total_tokens"), cost)
