"""The provider that retrai finds by its entry point `litellm`. Importing it imports no LiteLLM."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import closing, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from retrai_core import (
    AvailableModel,
    LLMProvider,
    PluginError,
    RetraiError,
    RunContext,
    UsageError,
    find_local_servers,
)

from .available import ADDRESS_VARIABLES, hosted_models, local_base, local_models, takes_a_key
from .copilot_tokens import COPILOT, HOW_TO_LOG_IN, CopilotTokens
from .credentials import ANY_KEY, NEEDS, missing
from .known_models import KnownModels, litellm_folder
from .options import LiteLLMOptions
from .process import LiteLLMProcess
from .secrets_filter import without_secrets
from .sent import Request
from .spec import ModelSpec, named_variables

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

INSTALL = "pip install --upgrade retrai-llm-litellm"
LIST = "the list is at docs.litellm.ai/docs/providers"
ANSWER_LIMIT_S = 30.0
"""For what LiteLLM answers without asking a server."""
MOST_KEPT = 256
"""Costs, and what is known of names."""

K = TypeVar("K")
V = TypeVar("V")


class LiteLLMProvider(LLMProvider[LiteLLMOptions]):
    """Any model that LiteLLM knows, by LiteLLM's own name for it.

    Example:
        >>> options = LiteLLMOptions(api_key_env="NO_SUCH_VARIABLE")
        >>> LiteLLMProvider(options, context=None).ready("openai/gpt-4o")
        'NO_SUCH_VARIABLE is not set'
    """

    name = "litellm"
    summary = "every hosted or local model that LiteLLM supports"
    needs = frozenset({"network"})
    model_patterns = ("*",)

    def __init__(self, options: LiteLLMOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._known_models: KnownModels | None = None
        self._reading = Lock()
        self._starting = Lock()
        self._process = LiteLLMProcess()
        self._keyed_process: LiteLLMProcess | None = None
        self._costs: dict[tuple[str, str], Future[float | None]] = {}
        self._inferred: dict[str, str | None] = {}
        self._nearest: dict[str, str | None] = {}

    def ready(self, model: str) -> str | None:
        """A missing key or address, by its variable; a login that nobody could see.

        Reads LiteLLM's own files (50 ms). Only for a bare name on which they say nothing is LiteLLM
        itself asked, which takes seconds.

        Raises:
            UsageError: LiteLLM derives no provider from the name.
        """
        provider = self._provider_of(model)
        options = self._options_for(provider)
        for name in named_variables(options):
            if not os.environ.get(name):
                return f"{name} is not set"
        if provider in NEEDS:
            return "; ".join(missing(NEEDS[provider], options, os.environ)) or None
        if provider == COPILOT:
            return self._login_nobody_sees()
        variables = self._known.keys_for(provider)
        if options.api_key_env or not variables or self._api_base(provider):
            return None
        if _is_set(variables, provider):
            return None
        return f"{' or '.join(variables)} is not set{self._misspelt(model)}"

    def warm_up(self) -> None:
        """Start the process that runs LiteLLM; nobody waits for it before the first request."""
        model = self.context.model_name
        self._process.start(model)
        # Files are read, or LiteLLM is asked, here and not in `create`, which the event loop calls.
        with suppress(RetraiError):  # `create` says it
            if model:
                self._provider_of(model)

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """The chat model.

        Args:
            model: LiteLLM's name of it.
            temperature: of its answers.
            context: the run.
            api_key: the caller's own. It goes to a process that has none of the user's keys, with
                each request of this model, and is not kept there.

        Raises:
            UsageError: LiteLLM derives no provider from the name, or it is asked without a key.
        """
        spec = self.spec(model, temperature)
        process = self._process
        if api_key is not None:
            spec = self._with_key(spec)
            process = self._without_keys()
        from .remote_model import RemoteChatLiteLLM

        def report(message: str) -> None:
            context.publish("log", level="warning", message=message)

        def priced(usage: Mapping[str, Any], cost: Future[float | None]) -> None:
            _keep(self._costs, _cost_key(model, usage), cost)

        chat = RemoteChatLiteLLM(spec=spec)
        chat.connect(process, report, priced, api_key)
        return chat

    def available(self) -> Sequence[AvailableModel]:
        """The default models where a key is set, and those of servers on this machine.

        Reads LiteLLM's own files, and asks loopback alone.
        """
        if base := self.options.api_base:  # every request goes there, whoever serves the model
            return list(local_models(find_local_servers(dict.fromkeys(ADDRESS_VARIABLES, base))))
        # A key of the user's choice is sent in the place of the providers' own.
        hosted = [] if self.options.api_key_env else hosted_models(self._known, os.environ)
        return [*hosted, *local_models(find_local_servers())]

    def spec(self, model: str, temperature: float) -> ModelSpec:
        """What the model is made of.

        Raises:
            UsageError: LiteLLM derives no provider from the name.
        """
        provider = self._provider_of(model)
        both = NEEDS.get(provider)
        keys = both[0].named if both else self._known.keys_for(provider)
        base = self._api_base(provider)
        options = self._options_for(provider)
        own = options.api_key_env
        local = None if base else local_base(provider, os.environ)
        return ModelSpec(
            model=model,
            provider=provider,
            temperature=temperature,
            options=options,
            needs_no_key=bool(
                keys and base and not both and not own and not _is_set(keys, provider)
            ),
            key_variables=(own,) if own else tuple(keys),
            nearest=self._nearest_to(model),
            api_base=base or local,
            local_base=local,
            attended=self.context.attended,
        )

    def _with_key(self, spec: ModelSpec) -> ModelSpec:
        """The same where the caller brings the key.

        Raises:
            UsageError: the provider takes none, or needs more than a key.
        """
        provider = spec.provider
        if not takes_a_key(provider, self._known):
            raise UsageError(f"{provider}, which serves {spec.model}, is not asked with a key")
        if problem := "; ".join(missing(NEEDS.get(provider, ())[1:], self.options, os.environ)):
            raise UsageError(f"the model {spec.model} cannot be used: {problem}")
        words = {"key_variables": ("the key that was given",), "needs_no_key": False}
        return spec.model_copy(update={"options": self.options.without_keys(), **words})

    def _without_keys(self) -> LiteLLMProcess:
        """The process for models with a key of their own: it knows no other."""
        with self._starting:  # callers come from several threads
            if self._keyed_process is None:
                keys = {ANY_KEY, *(name for both in NEEDS.values() for name in both[0].named)}
                keys |= {name for names in self._known.key_variables.values() for name in names}
                environ = without_secrets(os.environ, keys)
                for name in named_variables(self.options.without_keys()):
                    environ[name] = os.environ.get(name, "")
                # Many callers share it: what one has sent is not kept for the others.
                self._keyed_process = LiteLLMProcess(environ, keep=0)
            return self._keyed_process

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """By the price list of the installed LiteLLM; None for a model that is not in it."""
        key = _cost_key(model, usage)
        if key in self._costs:
            with suppress(CancelledError, TimeoutError):  # the process ended before it was told
                return self._costs[key].result(ANSWER_LIMIT_S)
        request = Request("cost", {"model": model, "usage": dict(usage)})
        cost = Future[float | None]()
        cost.set_result(self._answer(self._process, request)["cost_usd"])
        self._costs[key] = cost
        return cost.result()

    async def aclose(self) -> None:
        """End the processes, whatever they are doing."""
        for process in (self._process, self._keyed_process):
            if process is not None:
                await asyncio.to_thread(process.close)

    @staticmethod
    def _answer(process: LiteLLMProcess, request: Request) -> dict[str, Any]:
        """What LiteLLM answers without asking a server.

        Raises:
            ModelError: it cannot be asked.
        """
        *_, last = process.ask_and_wait(request, ANSWER_LIMIT_S)
        return last["done"]

    @property
    def _known(self) -> KnownModels:
        # The warm-up and `create` may come here from two threads, and `ast` is not made for that.
        with self._reading:
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
            if model not in self._inferred:
                _keep(self._inferred, model, self._inferred_provider(model))
            provider = self._inferred.get(model)
        if provider is None:
            nearest = self._known.nearest(model)
            meant = f"did you mean {nearest}? " if nearest else ""
            raise UsageError(
                f"no provider is known for the model {model}",
                hint=f"{meant}a name is PROVIDER/MODEL, as openai/gpt-4o; {LIST}",
            )
        return provider

    def _options_for(self, provider: str) -> LiteLLMOptions:
        """The options; with the key for any provider where this one's own is not set."""
        both = NEEDS.get(provider)
        keys = both[0].named if both else self._known.keys_for(provider)
        if (
            self.options.api_key_env
            or not os.environ.get(ANY_KEY)
            or not keys
            or _is_set(keys, provider)
        ):
            return self.options
        return self.options.model_copy(update={"api_key_env": ANY_KEY})

    def _api_base(self, provider: str) -> str | None:
        """The server's address where one was given."""
        prefix = _variable_prefix(provider)
        names = (f"{prefix}_API_BASE", f"{prefix}_BASE_URL")
        return self.options.api_base or next(filter(None, map(os.environ.get, names)), None)

    def _login_nobody_sees(self) -> str | None:
        """Why GitHub Copilot cannot be asked; None where it can, or a person may log in first."""
        context = cast("RunContext | None", self.context)
        if context is None or context.attended or CopilotTokens.of(os.environ).are_enough:
            return None
        return (
            f"a login to GitHub Copilot is needed, and nobody sees its code here: {HOW_TO_LOG_IN}"
        )

    def _misspelt(self, model: str) -> str:
        """What may be wrong beside a missing key: a bare name that only looks like a known one."""
        nearest = self._nearest_to(model)
        return f"; and no model {model} is known (did you mean {nearest}?)" if nearest else ""

    def _nearest_to(self, model: str) -> str | None:
        """The known name that looks like this one; None where it is known itself."""
        if model in self._known.models:
            return None
        if model not in self._nearest:  # 5 ms
            _keep(self._nearest, model, self._known.nearest(model))
        return self._nearest.get(model)

    def _inferred_provider(self, model: str) -> str | None:
        """What LiteLLM makes of a bare name on which its files say nothing (`ft:gpt-4o-...`)."""
        request = Request("provider", {"model": model})
        if self._keyed_process is not None:
            return self._answer(self._keyed_process, request)["provider"]
        with closing(LiteLLMProcess()) as process:
            return self._answer(process, request)["provider"]


def _keep(known: dict[K, V], key: K, value: V) -> None:
    """Keep a value, and forget the oldest one: a server is asked for any number of models."""
    known[key] = value
    while len(known) > MOST_KEPT:
        known.pop(next(iter(known)), None)


def _cost_key(model: str, usage: Mapping[str, Any]) -> tuple[str, str]:
    return model, json.dumps(usage, sort_keys=True)


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
