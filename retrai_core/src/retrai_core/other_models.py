"""Chat models beside the agent's, for whatever asks for one by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .building import PartsStack, built
from .choosing import choose_provider
from .contracts.context import RunContext
from .contracts.llm import LLMProvider, create_model
from .plugins.catalog import Catalog
from .run_config import RunConfig

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class OtherModels:
    """Makes them; the provider of each model is built once a run.

    Args:
        config: the run's configuration, with the options of the providers.
        catalog: what is installed.
        context: the run.
        stack: closes the providers.
    """

    def __init__(
        self, config: RunConfig, catalog: Catalog, context: RunContext, stack: PartsStack
    ) -> None:
        self._config = config
        self._catalog = catalog
        self._context = context
        self._stack = stack
        self._providers: dict[str, LLMProvider] = {}

    def __call__(self, name: str, temperature: float, api_key: str | None = None) -> BaseChatModel:
        """A model by its name; with a key of its own its provider is not asked whether it has one.

        Raises:
            UsageError, PluginError: nobody knows it, or it is not ready.
        """
        if api_key is not None:
            provider = self._built(name, has_key=True)
        elif name in self._providers:
            provider = self._providers[name]
        else:
            provider = self._providers[name] = self._built(name)
        model = create_model(provider, name, temperature, self._context, api_key)
        return self._context.counted(model, name, provider)

    def _built(self, name: str, *, has_key: bool = False) -> LLMProvider:
        config = self._config.model_copy(update={"model_name": name})
        part = choose_provider(
            config,
            self._context.run_dir,
            self._catalog,
            attended=self._context.attended,
            has_key=has_key,
        )
        return built(part, self._context, self._stack)
