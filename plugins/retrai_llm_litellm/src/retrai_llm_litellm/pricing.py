"""What a call cost, by LiteLLM's installed price list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .lazy_litellm import load_litellm


def cost_usd(model: str, usage: Mapping[str, Any]) -> float | None:
    """The price of a call in US dollars; None for a model without a price.

    Args:
        model: LiteLLM's name of the model.
        usage: LangChain's usage metadata; `input_tokens` holds the cached ones too.
    """
    litellm: Any = load_litellm()
    cached: Mapping[str, int] = usage.get("input_token_details") or {}
    try:
        prompt_usd, answer_usd = litellm.cost_per_token(
            model=model,
            prompt_tokens=int(usage.get("input_tokens") or 0),
            completion_tokens=int(usage.get("output_tokens") or 0),
            cache_read_input_tokens=int(cached.get("cache_read") or 0),
            cache_creation_input_tokens=int(cached.get("cache_creation") or 0),
        )
    except Exception as error:
        # LiteLLM raises a bare Exception for a model that its list does not have.
        if "isn't mapped" in str(error) or isinstance(error, litellm.BadRequestError):
            return None
        raise
    return cast(float, prompt_usd + answer_usd)
