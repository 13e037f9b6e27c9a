"""Which models can be used here: those whose key is set, and those of servers on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from retrai_core import AvailableModel, LocalServer, local_address

from .copilot_tokens import CopilotTokens
from .credentials import NEEDS
from .known_models import KnownModels

DEFAULT_MODELS: Mapping[str, Sequence[str]] = {
    "anthropic": ("claude-sonnet-4-6",),
    "openai": ("gpt-5.1",),
    "gemini": ("gemini/gemini-2.5-pro",),
    "mistral": ("mistral/devstral-medium-latest",),
    "deepseek": ("deepseek/deepseek-v4-pro",),
    "groq": ("groq/openai/gpt-oss-120b",),
    "cerebras": ("cerebras/gpt-oss-120b",),
    "together_ai": ("together_ai/moonshotai/Kimi-K2-Instruct",),
    "fireworks_ai": ("fireworks_ai/accounts/fireworks/models/kimi-k2-instruct",),
    "xai": ("xai/grok-code-fast-1",),
    "openrouter": ("openrouter/anthropic/claude-sonnet-4.5",),
}
"""By LiteLLM's name of the provider; the tests hold them against the installed LiteLLM's list."""
_ON_COPILOT = "github_copilot/gpt-4o"

LOCAL_PREFIXES = {
    "ollama": "ollama_chat",
    "lm_studio": "lm_studio",
    "vllm": "hosted_vllm",
    "llama_cpp": "llamafile",
}
"""What LiteLLM calls each kind of local server; `ollama` is served by `ollama_chat` too."""
ADDRESS_VARIABLES = (
    "OLLAMA_API_BASE",
    "LM_STUDIO_API_BASE",
    "HOSTED_VLLM_API_BASE",
    "LLAMAFILE_API_BASE",
)
"""LiteLLM's, for the addresses of local servers."""
_KIND_OF = {"ollama": "ollama", **{prefix: kind for kind, prefix in LOCAL_PREFIXES.items()}}


def hosted_models(known: KnownModels, environ: Mapping[str, str]) -> Iterator[AvailableModel]:
    """The default models of every provider whose key is set."""
    for provider, models in DEFAULT_MODELS.items():
        name = next((name for name in known.keys_for(provider) if environ.get(name)), None)
        if name is not None:
            yield from (AvailableModel(model, f"{name} is set") for model in models)
    if CopilotTokens.of(environ).are_enough:
        yield AvailableModel(_ON_COPILOT, "logged in to GitHub Copilot")


def local_models(servers: Sequence[LocalServer]) -> Iterator[AvailableModel]:
    """The models of servers on this machine, by LiteLLM's names."""
    for server in servers:
        source = f"{server.title} at {server.address.removeprefix('http://')}"
        for model in server.models:
            name = f"{LOCAL_PREFIXES[server.kind]}/{model}"
            yield AvailableModel(name, source, is_local=True)


def local_base(provider: str, environ: Mapping[str, str]) -> str | None:
    """Where LiteLLM finds a local server of this provider that nobody has given an address of.

    LiteLLM has no default for LM Studio and vLLM, and does not know `OLLAMA_HOST`.
    """
    kind = _KIND_OF.get(provider)
    if kind == "ollama" and environ.get("OLLAMA_API_BASE"):
        return None
    address = local_address(kind, environ) if kind is not None else None
    return f"{address}/v1" if address and kind != "ollama" else address


def takes_a_key(provider: str, known: KnownModels) -> bool:
    """Whether a key is what the provider is asked with, and not a login or an account's files."""
    return provider in NEEDS or provider in _KIND_OF or bool(known.keys_for(provider))
