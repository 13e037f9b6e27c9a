"""A server over a whole run: restarted once when it dies, then given up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, Tool

from retrai_core import McpServer, RunContext, ToolError

from .connection import Connection

MAX_RESTARTS = 1


class Server:
    """One entry of `mcp:` in a run.

    Args:
        name: its name there.
        settings: the entry.
        context: the run.
    """

    def __init__(self, name: str, settings: McpServer, context: RunContext) -> None:
        self.name = name
        self.settings = settings
        self._context = context
        self._connection: Connection | None = None
        self._restarts = 0
        self._starting = asyncio.Lock()
        self._closed = False

    async def start(self) -> list[Tool]:
        """Start it; what it offers.

        Raises:
            ToolError: it cannot be used; the message says why.
        """
        self._connection = Connection(self.settings, self._context.project)
        await self._connection.open()
        return self._connection.tools

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call one of its tools; a server that has died since the last call is started again.

        Raises:
            ToolError: it is gone, dies now, takes too long, or refuses.
        """
        connection = await self._living()
        try:
            return await connection.call(tool, arguments, self.settings.timeout_s)
        except ToolError as error:
            if connection.is_alive:
                raise ToolError(f"the MCP server {self.name}: {error.message}") from error
            note = "is started again at the next call" if self._may_restart else "is gone"
            raise ToolError(
                f"the MCP server {self.name} died during this call, which may or may not have had "
                f"its effect; it {note}. {error.message}"
            ) from error

    @property
    def _may_restart(self) -> bool:
        return self._restarts < MAX_RESTARTS and not self._closed

    async def _living(self) -> Connection:
        async with self._starting:
            connection = self._connection
            if connection is not None and connection.is_alive:
                return connection
            why = connection.end if connection is not None else "it was never started"
            if not self._may_restart:
                raise ToolError(f"the MCP server {self.name} is gone: {why}")
            self._restarts += 1
            self._tell(f"has died ({why}) and is started again")
            if connection is not None:
                await connection.aclose()
            self._connection = Connection(self.settings, self._context.project)
            try:
                await self._connection.open()
            except ToolError as error:
                self._tell(f"is gone: {error.message}")
                raise ToolError(f"the MCP server {self.name} is gone: {error.message}") from error
            return self._connection

    def _tell(self, what: str) -> None:
        message = f"the MCP server {self.name} {what}"
        self._context.publish("log", level="warning", message=message)

    async def aclose(self) -> None:
        """End it; further calls say that it is gone."""
        self._closed = True
        if self._connection is not None:
            await self._connection.aclose()
