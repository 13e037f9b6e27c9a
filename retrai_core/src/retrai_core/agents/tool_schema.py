"""The run's tools in the format of chat models."""

from __future__ import annotations

from typing import Any, cast

from ..contracts.tool import Tool
from .tool_names import wire_name


def schema(tool: Tool) -> dict[str, Any]:
    """A tool's name, description and arguments in OpenAI's function form, which LangChain takes."""
    parameters = tool.Args.model_json_schema()
    return {
        "type": "function",
        "function": {
            "name": wire_name(tool.name),
            "description": tool.description,
            "parameters": _without_titles(parameters),
        },
    }


def _without_titles(value: Any) -> Any:
    """Pydantic gives every field a title, which only costs tokens.

    A *property* named `title` is a schema, a mapping; only texts are left out.
    """
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {k: _without_titles(v) for k, v in items if k != "title" or not isinstance(v, str)}
    if isinstance(value, list):
        return [_without_titles(item) for item in cast("list[Any]", value)]
    return value
