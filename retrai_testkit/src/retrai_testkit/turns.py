"""What a scripted model does in one turn: the same form for `scripted` and `fake_llm_server`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Call(BaseModel):
    """One tool call: the tool's name and its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    args: dict[str, Any] = Field(default_factory=dict[str, Any])


class Turn(BaseModel):
    """One answer of a model: text, tool calls, or an error instead of both.

    Attributes:
        text: what it says.
        calls: the tools that it asks for, in order.
        error: the call fails with this message.
        fatal: with `error`: trying again cannot help (`ModelError.fatal`).
        status: with `error`, for `fake_llm_server` only: the HTTP status.
        headers: with `error`, for `fake_llm_server` only: more HTTP headers (`Retry-After`).

    Example:
        >>> Turn.model_validate({"calls": [{"name": "put_file"}]}).calls[0].name
        'put_file'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    calls: tuple[Call, ...] = ()
    error: str = ""
    fatal: bool = False
    status: int = 500
    headers: dict[str, str] = Field(default_factory=dict[str, str])


def call(name: str, **args: Any) -> Turn:
    """A turn with one tool call.

    Example:
        >>> call("file_read", path="a.py").calls
        (Call(name='file_read', args={'path': 'a.py'}),)
    """
    return Turn(calls=(Call(name=name, args=args),))


def say(text: str) -> Turn:
    """A turn with text alone, after which retrai checks the goal.

    Example:
        >>> say("I am done.").text
        'I am done.'
    """
    return Turn(text=text)


def as_settings(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    """The turns as they stand in a configuration file."""
    return [turn.model_dump(mode="json", exclude_defaults=True) for turn in turns]
