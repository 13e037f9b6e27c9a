"""What a chat model is told of the run's tools."""

from __future__ import annotations

import json
from typing import Any, Literal

from langchain_core.language_models import FakeListChatModel
from pydantic import BaseModel, Field

from retrai_core import RunContext, Tool, ToolArgs, ToolResult
from retrai_core.agents.counted_model import CountedModel
from retrai_core.agents.tool_schema import schema


class Place(BaseModel):
    line: int
    title: str = Field(default="", description="What stands there.")


class Mark(Tool):
    """Marks places in a file."""

    name = "mark"
    description = "Mark places in a file."

    class Args(ToolArgs):
        path: str = Field(description="The file.")
        places: list[Place]
        title: str = Field(default="A note", description="The note's title.")
        colour: Literal["red", "blue"] = "red"

    async def run(self, args: Any, context: RunContext) -> ToolResult:
        return ToolResult("marked")


class Wait(Tool):
    """Takes no arguments."""

    name = "wait"
    description = "Wait."

    async def run(self, args: Any, context: RunContext) -> ToolResult:
        return ToolResult("waited")


def built(tool: type[Tool]) -> Tool:
    return tool(tool.Options(), None)  # type: ignore[arg-type]  # no tool here looks at its run


def titles(value: Any) -> list[str]:
    """Every text that stands under the key `title`, however deep."""
    if isinstance(value, dict):
        own = [value["title"]] if isinstance(value.get("title"), str) else []
        return own + [found for inner in value.values() for found in titles(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in titles(inner)]
    return []


def test_a_tool_is_told_by_name_description_and_arguments() -> None:
    told = schema(built(Mark))
    assert told["type"] == "function"
    function = told["function"]
    assert (function["name"], function["description"]) == ("mark", "Mark places in a file.")
    parameters = function["parameters"]
    assert parameters["type"] == "object"
    assert parameters["required"] == ["path", "places"]
    assert parameters["properties"]["path"]["description"] == "The file."
    assert parameters["properties"]["colour"]["enum"] == ["red", "blue"]


def test_the_titles_that_pydantic_adds_are_left_out_and_arguments_of_that_name_stay() -> None:
    parameters = schema(built(Mark))["function"]["parameters"]
    assert titles(parameters) == []
    assert parameters["properties"]["title"]["description"] == "The note's title."
    nested = json.dumps(parameters)
    assert "What stands there." in nested


def test_a_tool_without_arguments_has_an_empty_object() -> None:
    parameters = schema(built(Wait))["function"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["properties"] == {}


def test_a_schema_is_json() -> None:
    told = schema(built(Mark))
    assert json.loads(json.dumps(told)) == told


def test_a_model_without_tools_stays_as_it_is() -> None:
    model = CountedModel(model=FakeListChatModel(responses=["done"]), account=None)
    assert model.bind_tools([]) is model
