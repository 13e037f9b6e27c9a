"""The token and cost budget: checked before each model call, at its highest possible cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..contracts.record import NeededLimit
from .pricing import PER, Price

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

CHARS_PER_TOKEN = 3.0
"""Fewer than English text has (about 4), so that the estimate of a prompt is rather too high."""

MAX_OUTPUT_TOKENS = 16_384
"""The longest answer that is allowed for where the budget would allow a longer one."""

MIN_OUTPUT_TOKENS = 256
"""Where the budget leaves less room than this for an answer, the call is not worth making."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of the run's model calls; None is no limit. `deadline` limits the time.

    Attributes:
        max_cost_usd: US dollars for model calls, over the whole run, resumed parts included.
        max_tokens: tokens of model calls, in and out together.
    """

    max_cost_usd: float | None = None
    max_tokens: int | None = None

    @property
    def limits_calls(self) -> bool:
        """Whether the length of an answer must be limited."""
        return self.max_cost_usd is not None or self.max_tokens is not None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the next call may use: a maximum of output tokens, or nothing, with the reason.

    Attributes:
        output_tokens: the longest answer; None is no limit.
        problem: why there is no call; empty when there may be one.
        needed: of a call that is not made, the limit that is in its way.
    """

    output_tokens: int | None = None
    problem: str = ""
    needed: NeededLimit | None = None


def allowance(
    budget: Budget,
    messages: Sequence[BaseMessage],
    schema_chars: int,
    spent_tokens: int,
    spent_usd: float | None,
    price: Price,
    counted_tokens: int | None = None,
) -> Allowance:
    """What the next model call may do within the budget.

    Args:
        budget: the limits.
        messages: what the call would send.
        schema_chars: the length of the tools' descriptions, which are sent too.
        spent_tokens: what earlier calls used.
        spent_usd: what they cost; None when that is not known.
        price: US dollars per million `input` and `output` tokens; None when not known.
        counted_tokens: what the messages are by the provider's count; estimated where it has none.
    """
    if not budget.limits_calls:
        return Allowance()
    if counted_tokens is None:
        schema_chars += len(prompt_text(messages))
    prompt = (counted_tokens or 0) + int(schema_chars / CHARS_PER_TOKEN) + 1
    room = MAX_OUTPUT_TOKENS
    if budget.max_tokens is not None:
        left = budget.max_tokens - spent_tokens - prompt
        if left < MIN_OUTPUT_TOKENS:
            worst = prompt + MIN_OUTPUT_TOKENS
            return Allowance(
                problem=f"{spent_tokens} tokens are used, the next call may need {worst}, "
                f"{budget.max_tokens} were allowed",
                needed=NeededLimit(limit="max_tokens", at_least=spent_tokens + worst),
            )
        room = min(room, left)
    if budget.max_cost_usd is not None:
        affordable = _affordable(budget.max_cost_usd, prompt, spent_usd, price)
        if isinstance(affordable, Allowance):
            return affordable
        room = min(room, affordable)
    return Allowance(output_tokens=room)


def prompt_text(messages: Sequence[BaseMessage]) -> str:
    """What messages send: their content, and the arguments of calls, whole files among them."""
    from langchain_core.messages import AIMessage  # slow to import; a run has its budget before

    parts: list[object] = []
    for message in messages:
        parts.append(message.content)
        if isinstance(message, AIMessage):
            parts += message.tool_calls
    return "".join(map(str, parts))


def _affordable(limit: float, prompt: int, spent: float | None, price: Price) -> int | Allowance:
    """How many output tokens the money left can pay for, or that there is no call."""
    input_price, output_price = price["input"], price["output"]
    if spent is None or input_price is None or output_price is None:
        return Allowance(
            problem="the model's price is not known, so a limit in dollars cannot be kept",
            needed=NeededLimit(limit="max_cost_usd", at_least=None),
        )
    left = limit - spent - prompt * input_price / PER
    if output_price == 0 and left >= 0:
        return MAX_OUTPUT_TOKENS
    room = int(left / output_price * PER) if output_price else 0
    if room < MIN_OUTPUT_TOKENS:
        worst = (prompt * input_price + MIN_OUTPUT_TOKENS * output_price) / PER
        return Allowance(
            problem=f"${spent:.4f} are spent, the next call may cost ${worst:.4f}, "
            f"${limit:g} were allowed",
            needed=NeededLimit(limit="max_cost_usd", at_least=spent + worst),
        )
    return room
