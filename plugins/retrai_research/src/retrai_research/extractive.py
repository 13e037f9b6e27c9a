"""The provider of the model `extractive`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from retrai_core import AvailableModel, LLMOptions, LLMProvider, RunContext

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class ExtractiveProvider(LLMProvider[LLMOptions]):
    """Makes the model that answers with what the code index finds.

    Example:
        >>> ExtractiveProvider(LLMOptions(), context=None).ready("extractive") is None
        True
    """

    name: ClassVar[str] = "extractive"
    summary: ClassVar[str] = "answers the agent research from the code index: no key, no network"
    needs: ClassVar[frozenset[str]] = frozenset()
    model_patterns = ("extractive",)
    per_run: ClassVar[bool] = True
    uses_tokens: ClassVar[bool] = False

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """The model; `temperature` and `api_key` mean nothing to it."""
        from .extractive_model import ExtractiveModel  # langchain-core is slow to import

        return ExtractiveModel()

    def available(self) -> Sequence[AvailableModel]:
        """None: it answers only the agent `research`, which takes it by itself."""
        return []

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """Nothing: nobody is asked."""
        return 0.0
