"""What a run has spent: by its agent, by other models, and in a process that was killed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..events import AgentEvent
from ..storage.event_log import usage_of
from .budget import Allowance, Budget

if TYPE_CHECKING:
    from .goal_loop.state import AgentState


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of model calls, and their cost in US dollars; None when a price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Both together; the cost is unknown when one of them is."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.total_tokens + other.total_tokens,
            (self.cost_usd or 0) + (other.cost_usd or 0) if known else None,
        )


@dataclass
class Spending:
    """The budget of one run, and what it has used.

    Attributes:
        budget: the limits.
        agent: used by the agent's model; what the state says.
        lost: used in earlier processes of the run, and in no state.
        others: used in this process by models beside the agent's.
        refused: that such a model was not asked, and why; None while none had to be refused.
        loop: the run's, on which every model is asked.
        thread: the loop's.
        turn: who asks such a model holds it, where a limit must not be passed by two at once.
    """

    budget: Budget
    agent: Usage = field(default_factory=Usage)
    lost: Usage = field(default_factory=Usage)
    others: Usage = field(default_factory=Usage)
    refused: Allowance | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    thread: int = field(default_factory=threading.get_ident)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def total(self) -> Usage:
        """All of it."""
        return self.agent + self.lost + self.others

    def go_on(self, events: Iterable[AgentEvent], state: AgentState | None) -> None:
        """Take up what the log of the run knows, this process's part of it too."""
        self.agent = Usage() if state is None else used_by_agent(state)
        self.lost, self.others = lost_usage(events, state), Usage()


def used_by_agent(state: AgentState) -> Usage:
    """What the state says."""
    return Usage(
        state["input_tokens"],
        state["output_tokens"],
        state["total_tokens"],
        state["estimated_cost_usd"],
    )


def lost_usage(events: Iterable[AgentEvent], state: AgentState | None) -> Usage:
    """What the run log says was used, less what the state that a run goes on from knows of.

    Args:
        events: the run's log, which is written before a step is kept.
        state: the last checkpoint's; None before the first.
    """
    tokens, cost = usage_of(events)
    known = Usage() if state is None else used_by_agent(state)
    return Usage(
        max(0, tokens.input - known.input_tokens),
        max(0, tokens.output - known.output_tokens),
        max(0, tokens.total - known.total_tokens),
        None if cost is None or known.cost_usd is None else max(0.0, cost - known.cost_usd),
    )
