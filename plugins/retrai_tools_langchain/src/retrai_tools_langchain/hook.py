"""The hook `langchain`."""

from __future__ import annotations

from collections.abc import Sequence

from retrai_core import RunContext, Tool, hookimpl

from .settings import LangChainOptions


class LangChainTools:
    """Offers the LangChain tools that `plugins: {langchain: {tools: [...]}}` names."""

    Options = LangChainOptions

    def __init__(self, options: LangChainOptions) -> None:
        self._wanted = options.tools

    @hookimpl
    def tools(self, context: RunContext) -> Sequence[Tool]:
        """The tools; nothing is imported where none is configured.

        Raises:
            UsageError: a tool cannot be made.
        """
        if not self._wanted:
            return []
        from .loading import load
        from .wrapped_tool import wrapped

        return [wrapped(inner, one, context) for one in self._wanted for inner in load(one)]
