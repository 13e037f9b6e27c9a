"""Chat models beside the agent's, for whatever asks for one by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .building import PartsStack, built
from .choosing import choose_provider
from .contracts.context import RunContext
from .contracts.llm import LLMProvider
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

    def __call__(self, name: str, temperature: float) -> BaseChatModel:
        """A model by its name.

        Raises:
            UsageError, PluginError: nobody knows it, or it is not ready.
        """
        if name not in self._providers:
            config = self._config.model_copy(update={"model_name": name})
            part = choose_provider(
                config, self._context.run_dir, self._catalog, attended=self._context.attended
            )
            self._providers[name] = built(part, self._context, self._stack)
        provider = self._providers[name]
        return self._context.counted(
            provider.create(name, temperature, self._context), name, provider
        )
