"""What a run has spent on model calls, and may spend."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..contracts.record import RunRecord, Tokens
from ..events import AgentEvent
from ..storage.event_log import usage_of
from .budget import Allowance, Budget


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
        used: by all model calls of the run, those of earlier processes included.
        refused: that a model beside the loop's was not asked, and why; None while none had to be
            refused.
        loop: the run's, on which every model is asked.
        thread: the loop's.
        turn: who asks such a model holds it, where a limit must not be passed by two at once.
    """

    budget: Budget
    used: Usage = field(default_factory=Usage)
    refused: Allowance | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    thread: int = field(default_factory=threading.get_ident)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def note_in(self, record: RunRecord) -> None:
        """Write what was used into the run's record."""
        used = self.used
        record.tokens = Tokens(
            input=used.input_tokens, output=used.output_tokens, total=used.total_tokens
        )
        record.cost_usd = used.cost_usd


def used_so_far(events: Iterable[AgentEvent]) -> Usage:
    """What a run's log says: it knows of every call, since it is written before a step is kept."""
    tokens, cost = usage_of(events)
    return Usage(tokens.input, tokens.output, tokens.total, cost)
