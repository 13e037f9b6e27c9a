"""The provider of the model `offline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from retrai_core import AvailableModel, LLMOptions, LLMProvider, RunContext

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class OfflineOptions(LLMOptions):
    """How long the model may search."""

    cpu_s: float = Field(default=20.0, gt=0)
    """Maximum CPU seconds of one search, child processes included."""
    wall_s: float = Field(default=240.0, gt=0)
    """Maximum wall-clock seconds of one search."""
    max_searches: int = Field(default=4, ge=1)
    """Number of searches in a row without a fix after which it gives up."""


class OfflineProvider(LLMProvider[OfflineOptions]):
    """Makes the model that searches for repairs.

    Example:
        >>> OfflineProvider(OfflineOptions(), context=None).ready("offline") is None
        True
    """

    name: ClassVar[str] = "offline"
    summary: ClassVar[str] = "fixes Python by search: no key, no network"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    model_patterns = ("offline",)
    per_run: ClassVar[bool] = True
    uses_tokens: ClassVar[bool] = False

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """The model of this run; `temperature` and `api_key` mean nothing to a search."""
        # langchain-core is slow to import, and `ready` must be cheap.
        from .model import OfflineModel
        from .searching import Searcher

        options = self.options
        searcher = Searcher(context, cpu_s=options.cpu_s, wall_s=options.wall_s)
        return OfflineModel(searcher=searcher, max_searches=options.max_searches)

    def available(self) -> Sequence[AvailableModel]:
        """Always there."""
        what = "always there: repairs Python by search, no key, no network"
        return [AvailableModel("offline", what, is_local=True)]

    def warm_up(self) -> None:
        """Import the chat model while the baseline check runs."""
        from . import model, searching

        assert model
        assert searching

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """Nothing: nobody is asked."""
        return 0.0
