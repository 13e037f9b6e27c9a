"""Providers that need an address beside a key, and what LiteLLM takes for each of the two.

LiteLLM's `validate_environment` says less than its requests do: for Azure it asks for a version
that has a default, and knows no token of Entra ID. So this is read off the requests. Providers that
may find what they need in files (Bedrock, Vertex AI, Databricks) are left to LiteLLM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .options import LiteLLMOptions

Together = tuple[str, ...]
"""Environment variables that say something only all together."""


@dataclass(frozen=True)
class Need:
    """One thing that a provider cannot do without.

    Attributes:
        named: the variables that a message names.
        also: others that do as well, each by itself or with those beside it.
        options: our options that do as well, or names in `extra_params`.
        headers: names in `extra_headers` that do as well, in lower case.
    """

    named: tuple[str, ...]
    also: tuple[Together, ...] = ()
    options: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    def is_met(self, options: LiteLLMOptions, environ: Mapping[str, str]) -> bool:
        """Whether the environment or the options have it."""
        own = options.model_dump(include=set(self.options))
        headers = {name.lower() for name in options.extra_headers}
        ways = [*((name,) for name in self.named), *self.also]
        return (
            any(own.get(name) or options.extra_params.get(name) for name in self.options)
            or not headers.isdisjoint(self.headers)
            or any(all(environ.get(name) for name in way) for way in ways)
        )


ANY_KEY = "LLM_API_KEY"
"""The variable with a key for whichever provider is asked, where its own variable is not set."""
_KEY_OPTIONS = ("api_key_env", "api_key")
_ADDRESS_OPTIONS = ("api_base", "base_url")
_ENTRA_ID: tuple[Together, ...] = (
    ("AZURE_OPENAI_API_KEY",),
    ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"),
    ("AZURE_USERNAME", "AZURE_PASSWORD", "AZURE_CLIENT_ID"),
)
_AZURE_OPTIONS = (*_KEY_OPTIONS, "azure_ad_token", "client_secret", "azure_password")
_AZURE_HEADERS = ("api-key", "authorization")

NEEDS: Mapping[str, Sequence[Need]] = {
    "azure": (
        Need(("AZURE_API_KEY", "AZURE_AD_TOKEN"), _ENTRA_ID, _AZURE_OPTIONS, _AZURE_HEADERS),
        Need(("AZURE_API_BASE",), (("AZURE_OPENAI_ENDPOINT",),), _ADDRESS_OPTIONS),
    ),
    "azure_ai": (
        Need(
            ("AZURE_AI_API_KEY",),
            (("AZURE_API_KEY",), ("AZURE_AD_TOKEN",), *_ENTRA_ID),
            _AZURE_OPTIONS,
            _AZURE_HEADERS,
        ),
        Need(("AZURE_AI_API_BASE",), (("AZURE_API_BASE",),), _ADDRESS_OPTIONS),
    ),
    "cloudflare": (
        Need(("CLOUDFLARE_API_KEY",), (), _KEY_OPTIONS),
        Need(("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_BASE"), (), _ADDRESS_OPTIONS),
    ),
    "watsonx": (
        Need(
            ("WATSONX_APIKEY", "WATSONX_TOKEN"),
            (("WATSONX_API_KEY",), ("WX_API_KEY",), ("WATSONX_ZENAPIKEY",)),
            (*_KEY_OPTIONS, "apikey", "token", "zen_api_key", "wx_credentials"),
            ("authorization",),
        ),
        Need(
            ("WATSONX_API_BASE", "WATSONX_URL"),
            (("WX_URL",), ("WML_URL",)),
            (*_ADDRESS_OPTIONS, "url", "wx_credentials"),
        ),
    ),
}
"""By LiteLLM's name of the provider: the key, then the address."""


def missing(
    needs: Sequence[Need], options: LiteLLMOptions, environ: Mapping[str, str]
) -> Iterator[str]:
    """What is not set, each need in words."""
    for need in needs:
        if not need.is_met(options, environ):
            words = " or ".join(need.named)
            if "api_base" in need.options:
                words += " (or the option api_base of plugins: litellm)"
            yield f"{words} is not set"
