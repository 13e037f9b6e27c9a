"""A server's tool as a tool of the run."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, cast

import mcp_types
from pydantic import ConfigDict

from retrai_core import RunContext, Tool, ToolArgs, ToolOptions, ToolResult

from .content import as_text
from .server import Server

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MAX_DESCRIPTION = 4000
_MAX_SCHEMA = 50_000
_SLACK_S = 30.0
"""Above a server's own time-outs, for what happens when they have run out."""


class AnyArgs(ToolArgs):
    """Arguments as they come: the server checks them by its own schema."""

    model_config = ConfigDict(extra="allow")


class ServerTool(Tool):
    """Calls one tool of a server; `offered` makes a subclass of it for each."""

    server: ClassVar[Server]
    its_name: ClassVar[str]

    async def run(self, args: AnyArgs, context: RunContext) -> ToolResult:
        """Call it; what the server calls an error is one for the model."""
        result = await self.server.call(self.its_name, args.model_extra or {})
        given: object = result.structured_content
        data = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        return ToolResult(as_text(result), ok=not result.is_error, data=data)

    async def aclose(self) -> None:
        """End the server, unless another of its tools has done so."""
        await self.server.aclose()


def refusal(tool: mcp_types.Tool) -> str | None:
    """Why a tool cannot be offered to a model, or None."""
    if not _NAME.fullmatch(tool.name):
        return f"{tool.name[:40]!r} is no name for a tool"
    if len(json.dumps(tool.input_schema)) > _MAX_SCHEMA:
        return f"{tool.name} describes its arguments in more than {_MAX_SCHEMA} characters"
    return None


def offered(server: Server, tool: mcp_types.Tool, context: RunContext) -> Tool:
    """The tool `SERVER.TOOL`, with the arguments that the server describes."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, **tool.input_schema}

    def model_json_schema(cls: type[ToolArgs], *_: Any, **__: Any) -> dict[str, Any]:
        return schema

    args = type("Args", (AnyArgs,), {"model_json_schema": classmethod(model_json_schema)})
    settings = server.settings
    body = {
        "name": f"{server.name}.{tool.name}",
        "description": (tool.description or tool.title or tool.name)[:_MAX_DESCRIPTION],
        "needs": frozenset(settings.needs),
        "Args": args,
        "server": server,
        "its_name": tool.name,
    }
    cls = type("ServerTool", (ServerTool,), body)
    limit_s = settings.timeout_s + settings.start_timeout_s + _SLACK_S
    return cls(ToolOptions(limit_s=limit_s), context)
