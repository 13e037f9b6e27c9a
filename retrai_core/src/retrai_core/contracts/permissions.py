"""The section `permissions:`: which tool calls may happen."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Permissions(BaseModel):
    """Rules for tool calls; each is `TOOL`, `TOOL: PATTERN` or `needs:NEED`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: Literal["allow", "ask", "deny"] = "allow"
    """What happens to a call that no rule is about."""
    allow: list[str] = Field(default_factory=list)
    """Calls that may happen."""
    ask: list[str] = Field(default_factory=list)
    """Calls that a person is asked about; refused where nobody can be asked."""
    deny: list[str] = Field(default_factory=list)
    """Calls that are refused."""
