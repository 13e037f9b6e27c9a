"""The options of the `litellm` provider."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

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
    """Address of the server. Default: the provider's, or its variable (`OPENAI_API_BASE`, ...)."""
    api_key_env: str | None = None
    """Environment variable with the key. Default: that of the provider."""
    api_version: str | None = None
    """Version of the API, for providers that need one (Azure)."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Temperature. Default: that of the run."""
    max_tokens: int | None = Field(default=None, gt=0)
    """Maximum length of an answer, in tokens."""
    timeout_s: float = Field(default=600.0, gt=0)
    """Maximum seconds without an answer before an attempt is abandoned."""
    max_retries: int = Field(default=5, ge=0)
    """Maximum retries after 429, 5xx, a time-out or a lost connection."""
    max_wait_s: float = Field(default=120.0, ge=0)
    """Maximum `Retry-After` to wait for, in seconds; a longer one ends the request."""
    streaming: bool = False
    """Stream every answer, for servers that close a connection after a long silence."""
    extra_headers: dict[str, str] = Field(default_factory=dict)
    """Headers for every request; `$NAME` in a value stands for an environment variable."""
    extra_params: dict[str, Any] = Field(default_factory=dict)
    """Any other parameters of `litellm.completion`, such as `{"reasoning_effort": "high"}`."""

    @field_validator("api_base")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value and not value.lower().startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value

    def without_keys(self) -> LiteLLMOptions:
        """The same for a caller who brings a key of their own."""
        headers, params = self.extra_headers.items(), self.extra_params.items()
        own = {
            "api_key_env": None,
            "extra_headers": {n: v for n, v in headers if n.lower() not in _KEY_HEADERS},
            "extra_params": {n: v for n, v in params if n not in _KEY_PARAMETERS},
        }
        return self.model_copy(update=own)
