"""A model provider: turns a model's name into a LangChain chat model."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict

from ..errors import PluginError
from .context import RunContext
from .models import OptionsT, TakesModels

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


GAVE_UP = "gave_up"
"""The `finish_reason` of an answer after which the model knows that it can do nothing more."""


@dataclass(frozen=True, slots=True)
class AvailableModel:
    """A model that is available here.

    Attributes:
        model: its name, as it is typed after `-m`.
        source: why it can be used: `ANTHROPIC_API_KEY is set`, `Ollama at 127.0.0.1:11434`.
        is_local: it runs on this machine; nothing leaves it.
    """

    model: str
    source: str
    is_local: bool = False


class LLMOptions(BaseModel):
    """Base of a provider's options; they come from `plugins: {PROVIDER: {...}}`."""

    model_config = ConfigDict(extra="forbid")


class LLMProvider(TakesModels, ABC, Generic[OptionsT]):
    """Creates chat models by name.

    The `model_patterns` of the manifests alone decide which provider serves a model: an exact
    pattern (`offline`) beats a prefix (`replay:*`), and that beats the catch-all (`*`).

    Example:
        >>> class Echo(LLMProvider):
        ...     name = "echo"
        ...     model_patterns = ("echo",)
        ...     def create(self, model, temperature, context, api_key=None):
        ...         from langchain_core.language_models import FakeListChatModel
        ...         return FakeListChatModel(responses=["hello"])
        >>> Echo(LLMOptions(), context=None).create("echo", 0.0, None).invoke("hi").content
        'hello'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    model_patterns: ClassVar[Sequence[str]] = ()
    per_run: ClassVar[bool] = False
    """The models belong to one run (a search, a replay, a caller's own key): never cached."""
    uses_tokens: ClassVar[bool] = True
    """False where a call sends nothing anywhere: no limit of tokens or money is in its way."""
    Options: type[LLMOptions] = LLMOptions

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """A chat model that supports `bind_tools` and `ainvoke`, with its own retries.

        Args:
            model: its name.
            temperature: of its answers.
            context: the run.
            api_key: a caller's own key, for this model alone: no other is used in its place, and
                nothing that was made with it is kept for a later call. None where the provider
                finds its key by itself.

        Raises:
            RetraiError: the model cannot be made; the message says why and what to do.
        """

    def ready(self, model: str) -> str | None:
        """A problem that must be said before the run (a missing key, by its name), or None.

        Called before anything heavy is imported; must be cheap.
        """
        return None

    def warm_up(self) -> None:
        """Import what is slow to import; called in a thread while the sandbox is tried and the
        baseline check runs."""
        return None

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """What a call cost in US dollars, from its LangChain usage metadata; None when unknown.

        Called in a thread, so that it may wait for what knows the price.
        """
        return None

    def count_tokens(self, model: str, text: str) -> int | None:
        """How many tokens `text` is; None where only an estimate could be given.

        Called in a thread before each call of a run with a limit, so it asks no server.
        """
        return None

    def available(self) -> Sequence[AvailableModel]:
        """The models that can be used here and now, the best first; for lists.

        Called in a thread: it may ask servers on this machine, for a second or two, but no other.
        By default the exact patterns that are ready.
        """
        return [
            AvailableModel(name, "needs nothing else", is_local="network" not in self.needs)
            for name in self.model_patterns
            if "*" not in name and self.ready(name) is None
        ]

    async def aclose(self) -> None:
        """Give back what this provider holds; called once, also after a failed run."""
        return None


def create_model(
    provider: LLMProvider,
    model: str,
    temperature: float,
    context: RunContext,
    api_key: str | None = None,
) -> BaseChatModel:
    """What the provider creates; one that was written before there was `api_key` works without it.

    Raises:
        RetraiError: the model cannot be made.
        PluginError: a key is given, and the provider would not use it.
    """
    if api_key is None:
        return provider.create(model, temperature, context)
    parameters = inspect.signature(provider.create).parameters.values()
    if not any(p.name == "api_key" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise PluginError(
            f"the provider {provider.name} takes no key for a single call: its `create` has no "
            "argument `api_key`",
            hint="set the key where the provider looks for it, and give none with the call",
        )
    return provider.create(model, temperature, context, api_key=api_key)
