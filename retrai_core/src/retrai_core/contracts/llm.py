"""A model provider: turns a model's name into a LangChain chat model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from .context import RunContext

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


GAVE_UP = "gave_up"
"""The `finish_reason` of an answer after which the model knows that it can do nothing more."""


class LLMOptions(BaseModel):
    """Base of a provider's options; they come from `plugins: {PROVIDER: {...}}`."""

    model_config = ConfigDict(extra="forbid")


class LLMProvider(ABC):
    """Creates chat models by name.

    Which provider serves a model is decided from the manifests' `model_patterns` alone; an exact
    pattern (`offline`) beats a prefix (`replay:*`), and that beats the catch-all (`*`).

    Example:
        >>> class Echo(LLMProvider):
        ...     name = "echo"
        ...     model_patterns = ("echo",)
        ...     def create(self, model, temperature, context):
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

    def __init__(self, options: Any, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    def create(self, model: str, temperature: float, context: RunContext) -> BaseChatModel:
        """A chat model that supports `bind_tools` and `ainvoke`, with its own retries.

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

    async def aclose(self) -> None:
        """Give back what this provider holds; called once, also after a failed run."""
        return None
