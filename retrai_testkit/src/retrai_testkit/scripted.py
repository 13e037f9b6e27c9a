"""The provider of the model `scripted`: it plays the turns that its options give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from retrai_core import AvailableModel, LLMOptions, LLMProvider, RunContext

from .turns import Turn

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SEEN = "scripted_seen.jsonl"


class ScriptedOptions(LLMOptions):
    """What the model does."""

    turns: list[Turn] = Field(default_factory=list[Turn])
    """The model's answers in order; after the last one it says that it is done."""


class ScriptedProvider(LLMProvider[ScriptedOptions]):
    """Makes a model of given turns, for tests: no key, no network.

    Example:
        >>> from retrai_testkit import say
        >>> provider = ScriptedProvider(ScriptedOptions(turns=[say("hello")]), context=None)
        >>> provider.create("scripted", 0.0, None).invoke("hi").content
        'hello'
    """

    name: ClassVar[str] = "scripted"
    summary: ClassVar[str] = "plays given turns, for tests of plugins"
    model_patterns = ("scripted",)
    per_run: ClassVar[bool] = True

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """The model of this run.

        Args:
            model: `scripted`.
            temperature: anything.
            context: what the model is sent is noted in its run folder; None notes nothing.
            api_key: anything.
        """
        # langchain-core is slow to import, and `ready` must be cheap.
        from .scripted_chat import ScriptedChat

        options = self.options
        return ScriptedChat(
            turns=tuple(options.turns), seen=context.run_dir / SEEN if context else None
        )

    def available(self) -> Sequence[AvailableModel]:
        """None for a list: it is of use in tests alone."""
        return []

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """A thousandth of a dollar a token, so that a budget can be tried out."""
        return int(usage["total_tokens"]) / 1000
