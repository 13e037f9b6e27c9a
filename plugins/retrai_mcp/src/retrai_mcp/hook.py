"""The hook `mcp`."""

from __future__ import annotations

from collections.abc import Sequence

from retrai_core import RunContext, Tool, hookimpl


class McpServers:
    """Starts the servers under `mcp:` and offers their tools as `SERVER.TOOL`."""

    needs = frozenset({"run", "network"})

    @hookimpl
    async def tools(self, context: RunContext) -> Sequence[Tool]:
        """Their tools; nothing is imported where no server is configured."""
        if not context.mcp:
            return []
        from .offering import start_all

        return await start_all(context)
