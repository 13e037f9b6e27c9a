"""Prices of model calls and lengths of prompts, computed outside the event loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..contracts.context import RunContext
from ..contracts.llm import LLMProvider
from ..errors import RetraiError
from ..plugins.daemon_call import aside

PER = 1_000_000
"""Prices are told for so many tokens."""

TOKENS_AROUND = 4
"""What a message's role and its marks take beside its text, in the chat formats that are known."""

_LIMIT_S = 180.0
"""For one answer: the library with the price list may have to be imported first."""

Price = Mapping[str, float | None]
"""US dollars for `PER` tokens of `input` and `output`; None when not known."""


async def cost_of(
    context: RunContext, provider: LLMProvider, model: str, usage: Mapping[str, Any]
) -> float | None:
    """What a call cost in US dollars; None when that is not known.

    The answer is paid for, so a provider that fails here costs the run nothing but the figure.
    """
    try:
        return await aside(partial(provider.cost_usd, model, usage), _LIMIT_S)
    except (RetraiError, TimeoutError) as error:
        message = f"what the call to {model} cost is not known: {error}"
        context.publish("log", level="warning", message=message)
        return None


async def tokens_of(
    context: RunContext, provider: LLMProvider, model: str, prompt: str, message_count: int
) -> int | None:
    """How many tokens a prompt is, by the provider's own count; None where it has none."""
    if type(provider).count_tokens is LLMProvider.count_tokens:
        return None  # most have none, and a thread costs more than the answer
    try:
        counted = await aside(partial(provider.count_tokens, model, prompt), _LIMIT_S)
    except (RetraiError, TimeoutError) as error:
        message = f"how many tokens a prompt for {model} has is estimated: {error}"
        context.publish("log", level="warning", message=message)
        return None
    return None if counted is None else max(0, counted) + TOKENS_AROUND * message_count


async def price_of(context: RunContext, provider: LLMProvider, model: str) -> Price:
    """The price of `model`."""

    async def of(**usage: int) -> float | None:
        asked: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, **usage}
        return await cost_of(context, provider, model, asked | {"total_tokens": PER})

    return {"input": await of(input_tokens=PER), "output": await of(output_tokens=PER)}
