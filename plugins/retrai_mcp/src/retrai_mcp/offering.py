"""Starts the servers of a run, side by side, and gives their tools."""

from __future__ import annotations

import asyncio

import mcp_types

from retrai_core import RunContext, Tool, ToolError, UsageError

from .server import Server
from .server_tool import offered, refusal

MAX_TOOLS = 128
"""Of one server: more would only crowd the model's context, and some APIs refuse them."""


async def start_all(context: RunContext) -> list[Tool]:
    """The tools of every server that starts; what does not is told, and done without.

    Raises:
        UsageError: the configuration wants a tool that its server does not have.
    """
    servers = [Server(name, entry, context) for name, entry in context.mcp.items()]
    try:
        offers = await asyncio.gather(*(_started(server, context) for server in servers))
    except BaseException:
        await asyncio.gather(*(server.aclose() for server in servers))
        raise
    return [tool for offer in offers for tool in offer]


async def _started(server: Server, context: RunContext) -> list[Tool]:
    def tell(level: str, message: str) -> None:
        context.publish("log", level=level, message=f"the MCP server {server.name} {message}")

    try:
        found = await server.start()
    except ToolError as error:
        tell("warning", f"is done without: {error.message}")
        return []
    wanted = server.settings.tools
    if wanted is not None:
        missing = sorted(set(wanted) - {tool.name for tool in found})
        if missing:
            known = ", ".join(sorted(tool.name for tool in found))[:500]
            raise UsageError(
                f"mcp.{server.name}.tools: it has no tool {', '.join(missing)}",
                hint=f"it has {known}",
            )
        found = [tool for tool in found if tool.name in wanted]
    usable: list[mcp_types.Tool] = []
    for tool in found:
        problem = refusal(tool)
        if problem is None:
            usable.append(tool)
        else:
            tell("warning", f"offers a tool that is left out: {problem}")
    if len(usable) > MAX_TOOLS:
        tell("warning", f"offers {len(usable)} tools; the model gets the first {MAX_TOOLS}")
    if not usable:
        await server.aclose()
    tell("info", f"offers {len(usable[:MAX_TOOLS])} tools")
    return [offered(server, tool, context) for tool in usable[:MAX_TOOLS]]
