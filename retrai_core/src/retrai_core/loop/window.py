"""Which messages go to the model: the first and the last ones, no call cut from its results."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

MAX_MESSAGES = 60
"""System message, goal and conversation together, as DESIGN.md fixes it."""


def window(messages: Sequence[AnyMessage], limit: int = MAX_MESSAGES - 1) -> list[AnyMessage]:
    """The goal (the first message) and the last messages, at most `limit` in all.

    A tool message never comes without the call that it answers. Only where the very last turn
    alone has more messages than `limit` is it sent whole and the limit exceeded: half a turn is
    refused by every model.
    """
    if len(messages) <= limit:
        return list(messages)
    goal, rest = messages[0], messages[1:]
    start = len(rest) - (limit - 1)
    while start < len(rest) and isinstance(rest[start], ToolMessage):
        start += 1
    if start == len(rest):
        start = _last_call(rest)
    return [goal, *rest[start:]]


def _last_call(messages: Sequence[AnyMessage]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], AIMessage):
            return index
    return len(messages)
