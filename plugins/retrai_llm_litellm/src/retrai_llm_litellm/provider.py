"""The provider that retrai finds by its entry point `litellm`. Importing it imports no LiteLLM."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from retrai_core import LLMProvider, PluginError, RunContext, UsageError

from .known_models import KnownModels, litellm_folder
from .lazy_litellm import call_params, choose_transport, is_loaded, load_litellm, rehearse
from .options import LiteLLMOptions
from .pricing import cost_usd

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from .problems import Asked

INSTALL = "pip install --upgrade retrai-llm-litellm"
LIST = "the list is at docs.litellm.ai/docs/providers"
PLACEHOLDER_KEY = "none-needed"
VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


class LiteLLMProvider(LLMProvider):
    """Any model that LiteLLM knows, by LiteLLM's own name for it.

    Example:
        >>> options = LiteLLMOptions(api_key_env="NO_SUCH_VARIABLE")
        >>> LiteLLMProvider(options, context=None).ready("openai/gpt-4o")
        'NO_SUCH_VARIABLE is not set'
    """

    name = "litellm"
    summary = "Every hosted or local model that LiteLLM speaks to"
    needs = frozenset({"network"})
    model_patterns = ("*",)
    Options = LiteLLMOptions

    def __init__(self, options: Any, context: RunContext) -> None:
        super().__init__(options, context)
        self.options: LiteLLMOptions = options
        self._known_models: KnownModels | None = None
        self._loading = threading.Lock()

    def ready(self, model: str) -> str | None:
        """A missing key, by its variable.

        Reads LiteLLM's own files (50 ms). Only for a bare name on which they say nothing is LiteLLM
        itself imported and asked.

        Raises:
            UsageError: LiteLLM derives no provider from the name.
        """
        provider = self._provider_of(model)
        for name in self._named_variables():
            if not os.environ.get(name):
                return f"{name} is not set"
        variables = self._known.keys_for(provider)
        if self.options.api_key_env or not variables or self._api_base(provider):
            return None
        return None if _is_set(variables, provider) else f"{' or '.join(variables)} is not set"

    def warm_up(self) -> None:
        """Import LiteLLM and what it would leave to the first request; safe beside `create`."""
        with self._loading:
            load_litellm()
            rehearse(self.context.model_name)

    def create(self, model: str, temperature: float, context: RunContext) -> BaseChatModel:
        """The chat model.

        Raises:
            UsageError: LiteLLM derives no provider from the name.
        """
        provider = self._provider_of(model)
        with self._loading:
            load_litellm()
        from .chat_model import RetraiChatLiteLLM
        from .retries import RetryPolicy

        choose_transport(provider)
        options = self.options
        chat = RetraiChatLiteLLM(
            model=model,
            api_base=options.api_base,
            api_key=self._api_key(provider),
            temperature=temperature if options.temperature is None else options.temperature,
            max_tokens=options.max_tokens,
            request_timeout=options.timeout_s,
            extra_headers=self._headers() or None,
            model_kwargs=self._params(),
        )

        def report(message: str) -> None:
            context.publish("log", level="warning", message=message)

        policy = RetryPolicy(options.max_retries, options.max_wait_s)
        asked = self._asked(model, provider)
        chat.configure(policy, asked, report, streaming=options.streaming)
        return chat

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """By the price list of the installed LiteLLM; None for a model that is not in it."""
        return cost_usd(model, usage) if is_loaded() else None

    def _headers(self) -> dict[str, str]:
        """The headers of every request, with the variables in them filled in."""
        return {
            name: VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value)
            for name, value in self.options.extra_headers.items()
        }

    def _named_variables(self) -> list[str]:
        """The environment variables that the options name."""
        values = self.options.extra_headers.values()
        names = [name for value in values for name in VARIABLE.findall(value)]
        return [*names, self.options.api_key_env] if self.options.api_key_env else names

    def _params(self) -> dict[str, Any]:
        """Parameters of every request that LangChain's integration has no field for."""
        # Its client libraries retry by themselves otherwise, beside us and without our limit.
        params: dict[str, Any] = {"max_retries": 0, "num_retries": 0, **call_params()}
        if self.options.api_version:
            params["api_version"] = self.options.api_version
        return {**params, **self.options.extra_params}

    @property
    def _known(self) -> KnownModels:
        if self._known_models is None:
            folder = litellm_folder()
            if folder is None:
                raise PluginError("LiteLLM is not installed", hint=INSTALL)
            try:
                self._known_models = KnownModels.read(folder)
            except (OSError, ValueError) as error:
                raise PluginError(f"LiteLLM's model list: {error}", hint=INSTALL) from error
        return self._known_models

    def _provider_of(self, model: str) -> str:
        """Who serves `model`.

        Raises:
            UsageError: nobody that LiteLLM knows.
        """
        provider = self._known.provider_of(model)
        if provider is None and "/" not in model:
            provider = _inferred_provider(model)
        if provider is None:
            nearest = self._known.nearest(model)
            meant = f"did you mean {nearest}? " if nearest else ""
            raise UsageError(
                f"no provider is known for the model {model}",
                hint=f"{meant}a name is PROVIDER/MODEL, as openai/gpt-4o; {LIST}",
            )
        return provider

    def _api_base(self, provider: str) -> str | None:
        """The server's address where one was given."""
        prefix = _variable_prefix(provider)
        names = (f"{prefix}_API_BASE", f"{prefix}_BASE_URL")
        return self.options.api_base or next(filter(None, map(os.environ.get, names)), None)

    def _api_key(self, provider: str) -> str | None:
        """The key to send; None leaves the environment to LiteLLM."""
        if self.options.api_key_env:
            return os.environ.get(self.options.api_key_env)
        variables = self._known.keys_for(provider)
        if variables and self._api_base(provider) and not _is_set(variables, provider):
            # A local server asks for none, but the client libraries insist on one.
            return PLACEHOLDER_KEY
        return None

    def _asked(self, model: str, provider: str) -> Asked:
        from .problems import Asked

        secrets = [os.environ.get(name, "") for name in self._named_variables()]
        unknown = model not in self._known.models
        nearest = self._known.nearest(model) if unknown else None
        own = self.options.api_key_env
        keys = [own] if own else self._known.keys_for(provider)
        return Asked(model, provider, keys, tuple(secrets), nearest, self._api_base(provider))


def _variable_prefix(provider: str) -> str:
    """How the variables of a provider begin: `together_ai` is TOGETHER_AI."""
    return re.sub(r"\W", "_", provider).upper()


def _is_set(variables: Sequence[str], provider: str) -> bool:
    """Whether one of a provider's key variables is set.

    Some providers read more spellings than LiteLLM lists, so any variable that begins with the
    provider's first word and is named like a key counts: the server has the last word.
    """
    first_word = _variable_prefix(provider).split("_", 1)[0]
    return any(
        value and (name in variables or (name.startswith(first_word) and _is_key_name(name)))
        for name, value in os.environ.items()
    )


def _is_key_name(name: str) -> bool:
    return name.endswith(("_KEY", "_TOKEN"))


def _inferred_provider(model: str) -> str | None:
    """What LiteLLM makes of a bare name on which its files say nothing (`ft:gpt-4o-...`)."""
    litellm: Any = load_litellm()
    try:
        return cast(str, litellm.get_llm_provider(model=model)[1])
    except litellm.BadRequestError:
        return None
