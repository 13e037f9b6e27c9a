"""The hook `langchain`."""

from __future__ import annotations

from collections.abc import Sequence

from retrai_core import RunContext, Tool, hookimpl

from .settings import SECTION, settings_of


class LangChainTools:
    """Offers the LangChain tools that `plugins: {langchain: {tools: [...]}}` names."""

    @hookimpl
    def tools(self, context: RunContext) -> Sequence[Tool]:
        """The tools; nothing is imported where none is configured.

        Raises:
            UsageError: the section is wrong, or a tool cannot be made.
        """
        wanted = settings_of(context.plugin_options.get(SECTION, {})).tools
        if not wanted:
            return []
        from .loading import load
        from .wrapped_tool import wrapped

        return [wrapped(inner, one, context) for one in wanted for inner in load(one)]
