"""What stands under `plugins: {langchain: ...}`."""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class OneTool(BaseModel):
    """One LangChain tool that the run gets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """Dotted name of a tool, its class or its factory: `package.module.Class`."""
    needs: list[Literal["read", "write", "run", "network"]]
    """What the tool does; only the user can know."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Arguments for the class or factory."""
    rename: str = ""
    """Name of the tool for the model. Default: its own name."""
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    """Maximum seconds for one call."""

    @model_validator(mode="before")
    @classmethod
    def _says_what_it_does(cls, given: object) -> object:
        if isinstance(given, dict) and "needs" not in given:
            raise ValueError(
                "say what the tool does: `needs: []`, or some of read, write, run, network"
            )
        return cast("object", given)

    @field_validator("name")
    @classmethod
    def _is_dotted(cls, value: str) -> str:
        if not _DOTTED.fullmatch(value):
            raise ValueError("must be a dotted name, as in `package.module.Class`")
        return value

    @field_validator("rename")
    @classmethod
    def _is_callable(cls, value: str) -> str:
        if value and not _TOOL_NAME.fullmatch(value):
            raise ValueError("must be letters, digits, `_` and `-`, at most 64")
        return value


class LangChainOptions(BaseModel):
    """Options of the hook `langchain`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tools: list[OneTool] = Field(default_factory=list[OneTool])
    """The LangChain tools that runs get: `name`, `needs`, `args`, `rename`, `timeout_s`."""
