"""What stands under `plugins: {langchain: ...}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from retrai_core import UsageError

SECTION = "langchain"
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class OneTool(BaseModel):
    """One LangChain tool that the run gets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """The dotted name of a tool, of its class, or of what makes it: `package.module.Class`."""
    needs: list[Literal["read", "write", "run", "network"]]
    """What the tool does, which nobody but the user can know."""
    args: dict[str, Any] = Field(default_factory=dict)
    """What the class or maker is called with."""
    rename: str = ""
    """The tool's name for the model; its own when left out."""
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    """Seconds that one call may take."""

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


class LangChainSettings(BaseModel):
    """The whole section."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tools: list[OneTool] = Field(default_factory=list[OneTool])


def settings_of(given: Mapping[str, Any]) -> LangChainSettings:
    """The section, checked.

    Raises:
        UsageError: a key that nobody knows, a value that does not fit, or no `needs`.
    """
    try:
        return LangChainSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in ("plugins", SECTION, *first["loc"]))
        if first["type"] == "missing" and first["loc"][-1] == "needs":
            raise UsageError(
                f"{where}: say what the tool does",
                hint="`needs: []`, or some of read, write, run, network",
            ) from error
        raise UsageError(f"{where}: {first['msg'].lower()}, got {first['input']!r}") from error
