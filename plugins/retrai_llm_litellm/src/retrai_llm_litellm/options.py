"""The options of the `litellm` provider."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from retrai_core import LLMOptions

_KEY_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
_KEY_PARAMETERS = frozenset(
    {"api_key", "azure_ad_token", "client_secret", "azure_password", "token", "apikey"}
)
"""Of LiteLLM's: what may stand in `extra_params` in the place of a key."""


class LiteLLMOptions(LLMOptions):
    """Options of the `litellm` provider, from `plugins: {litellm: {...}}`.

    None of them holds a secret, since options are kept with the record of a run: keys stay in the
    environment, and are named here.
    """

    api_base: str | None = None
    """The server's address; else the provider's own, or its variable (`OPENAI_API_BASE`, ...)."""
    api_key_env: str | None = None
    """The environment variable that holds the key, instead of the provider's own."""
    api_version: str | None = None
    """The API's version, where a provider wants one (Azure)."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Instead of the run's temperature."""
    max_tokens: int | None = Field(default=None, gt=0)
    """The longest answer, in tokens."""
    timeout_s: float = Field(default=600.0, gt=0)
    """Seconds without an answer before an attempt is given up."""
    max_retries: int = Field(default=5, ge=0)
    """Further attempts after 429, 5xx, a time-out or a lost connection."""
    max_wait_s: float = Field(default=120.0, ge=0)
    """The longest `Retry-After` that is waited for, in seconds; a longer one ends the request."""
    streaming: bool = False
    """Receive whole answers as they are written, for servers that cut long silences."""
    extra_headers: dict[str, str] = Field(default_factory=dict)
    """Headers added to every request; `$NAME` in a value is that environment variable's."""
    extra_params: dict[str, Any] = Field(default_factory=dict)
    """Any other parameter of `litellm.completion`, as `{"reasoning_effort": "high"}`."""

    def without_keys(self) -> LiteLLMOptions:
        """The same for a caller who brings a key of their own."""
        headers, params = self.extra_headers.items(), self.extra_params.items()
        own = {
            "api_key_env": None,
            "extra_headers": {n: v for n, v in headers if n.lower() not in _KEY_HEADERS},
            "extra_params": {n: v for n, v in params if n not in _KEY_PARAMETERS},
        }
        return self.model_copy(update=own)
