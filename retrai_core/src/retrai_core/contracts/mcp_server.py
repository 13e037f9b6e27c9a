"""One entry of the `mcp:` section: a server whose tools a run gets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}")


class McpServer(BaseModel):
    """How to reach a server of the Model Context Protocol, and what its tools may do.

    Example:
        >>> McpServer(command=["uvx", "mcp-server-time"], needs=["read"]).timeout_s
        60.0
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: list[str] = Field(default_factory=list, json_schema_extra={"runs": True})
    """The program and its arguments; it must speak MCP on its standard input and output.

    A string is split as a shell would split it."""
    url: str | None = None
    """Address of a running server, instead of `command`."""
    headers: dict[str, str] = Field(default_factory=dict)
    """HTTP headers for `url`."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables for the program, added to a clean environment without keys."""
    pass_env: list[str] = Field(default_factory=list)
    """Names of the user's variables that the program also gets, such as a token."""
    needs: list[Literal["read", "write", "run", "network"]] = ["read", "write", "run", "network"]
    """What its tools do, for the rules of `permissions:`. Default: the most dangerous."""
    tools: list[str] | None = None
    """Names of the tools that the model gets. Default: all."""
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    """Maximum seconds for one call."""
    start_timeout_s: float = Field(default=30.0, gt=0, le=600)
    """Maximum seconds to wait for the server to start; after that the run goes on without it."""

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a `command` or a `url`")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ValueError("the `url` must begin with http:// or https://")
        return self


def sound_names(servers: Mapping[str, McpServer]) -> Mapping[str, McpServer]:
    """The servers, when each name can be the first part of a tool's name.

    Raises:
        ValueError: a name is too long, or holds other characters.
    """
    for name in servers:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no server's name: letters, digits and `-`, at most 32")
    return servers
