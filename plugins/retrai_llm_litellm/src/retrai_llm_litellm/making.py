"""Makes the chat model that speaks to a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .lazy_litellm import call_params, choose_transport, load_litellm
from .options import LiteLLMOptions
from .problems import Asked
from .retries import RetryPolicy
from .spec import VARIABLE, ModelSpec, named_variables

if TYPE_CHECKING:
    from .chat_model import RetraiChatLiteLLM

PLACEHOLDER_KEY = "none-needed"


def make_model(
    spec: ModelSpec, report: Callable[[str], None], api_key: str | None = None
) -> RetraiChatLiteLLM:
    """The model, its keys taken from this process's environment.

    Args:
        spec: what it is made of.
        report: told each time that a request is sent again, in one line.
        api_key: the caller's own key, in the place of those.
    """
    load_litellm()
    from .chat_model import RetraiChatLiteLLM

    choose_transport(spec.provider)
    options = spec.options
    chat = RetraiChatLiteLLM(
        model=spec.model,
        api_base=options.api_base or spec.local_base,
        api_key=api_key or _api_key(spec),
        temperature=spec.temperature if options.temperature is None else options.temperature,
        max_tokens=options.max_tokens,
        request_timeout=options.timeout_s,
        extra_headers=_headers(options) or None,
        model_kwargs=_params(options),
    )
    policy = RetryPolicy(options.max_retries, options.max_wait_s)
    chat.configure(policy, _request_details(spec, api_key), report, streaming=options.streaming)
    return chat


def _api_key(spec: ModelSpec) -> str | None:
    """The key to send; None leaves the environment to LiteLLM."""
    if spec.options.api_key_env:
        return os.environ.get(spec.options.api_key_env)
    # A local server asks for none, but the client libraries insist on one.
    return PLACEHOLDER_KEY if spec.needs_no_key else None


def _headers(options: LiteLLMOptions) -> dict[str, str]:
    """The headers of every request, with the variables in them filled in."""
    return {
        name: VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value)
        for name, value in options.extra_headers.items()
    }


def _params(options: LiteLLMOptions) -> dict[str, Any]:
    """Parameters of every request that LangChain's integration has no field for."""
    # Its client libraries retry by themselves otherwise, beside us and without our limit.
    params: dict[str, Any] = {"max_retries": 0, "num_retries": 0, **call_params()}
    if options.api_version:
        params["api_version"] = options.api_version
    return {**params, **options.extra_params}


def _request_details(spec: ModelSpec, api_key: str | None) -> Asked:
    secrets = tuple(os.environ.get(name, "") for name in named_variables(spec.options))
    secrets += () if api_key is None else (api_key,)
    return Asked(
        spec.model, spec.provider, spec.key_variables, secrets, spec.nearest, spec.api_base
    )
