"""Which messages go to the model: the first and the last, never a call without its results."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

MAX_MESSAGES = 60
"""System message, goal and conversation together, as DESIGN.md fixes it."""


def window(messages: Sequence[AnyMessage], limit: int = MAX_MESSAGES - 1) -> list[AnyMessage]:
    """The goal (the first message) and the last messages, at most `limit` in all.

    A tool message never comes without the call that it answers, and the model's last turn is never
    cut: where it alone has more messages than fit, the limit is exceeded, since a model that does
    not see what its calls gave back makes them again.
    """
    if len(messages) <= limit:
        return list(messages)
    goal, rest = messages[0], messages[1:]
    start = len(rest) - (limit - 1)
    while start < len(rest) and isinstance(rest[start], ToolMessage):
        start += 1
    return [goal, *rest[min(start, _last_call(rest)) :]]


def _last_call(messages: Sequence[AnyMessage]) -> int:
    """Where the last turn begins: the last message of the model with tool calls."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AIMessage):
            return index if message.tool_calls else len(messages)
    return len(messages)
