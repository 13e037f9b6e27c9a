"""What the model knows of its run, kept in its own answers so that a resumed run has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import BaseModel, Field

from .answer import Effort

KEY = "retrai_offline"


class Patch(BaseModel):
    """A replacement to make: `old` stands in the file exactly once."""

    path: str
    old: str
    new: str
    reason: str
    key: str = ""


class Memory(BaseModel):
    """The state of the search between two turns.

    Attributes:
        turn: how many answers the model has given.
        effort: what its searches have tried so far.
        in_vain: how many searches in a row led to no edit that was made.
        queue: patches found and not yet asked for.
        asked: the patch that the last answer asked for.
        search_state: what the next search needs in order to go on.
        given_up: why the model stopped searching; empty while it goes on.
    """

    turn: int = 0
    effort: Effort = Field(default_factory=Effort)
    in_vain: int = 0
    queue: list[Patch] = Field(default_factory=list[Patch])
    asked: Patch | None = None
    search_state: dict[str, Any] = Field(default_factory=dict[str, Any])
    given_up: str = ""

    @classmethod
    def recall(cls, messages: Sequence[BaseMessage]) -> Self:
        """The state that the model's last answer carries; a new one where there is none."""
        for message in reversed(messages):
            if isinstance(message, AIMessage) and KEY in message.additional_kwargs:
                return cls.model_validate(message.additional_kwargs[KEY])
        return cls()


def refused(messages: Sequence[BaseMessage]) -> str:
    """What the tools said against the last answer's calls; empty when they did what was asked."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return ""
        if isinstance(message, ToolMessage) and message.status == "error":
            return message.text.strip() or "it was refused"
    return ""
