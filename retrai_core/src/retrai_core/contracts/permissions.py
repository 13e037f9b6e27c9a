"""The section `permissions:`: which tool calls are allowed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Permissions(BaseModel):
    """Rules for tool calls; each is `TOOL`, `TOOL: PATTERN` or `needs:NEED`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: Literal["allow", "ask", "deny"] = "allow"
    """Decision for calls that match no rule."""
    allow: list[str] = Field(default_factory=list)
    """Calls to allow."""
    ask: list[str] = Field(default_factory=list)
    """Calls that a person must approve; refused if nobody can be asked."""
    deny: list[str] = Field(default_factory=list)
    """Calls to refuse."""
