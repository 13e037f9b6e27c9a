"""Which messages go to the model: the first and the last, never a call without its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from . import prompt

if TYPE_CHECKING:
    from .state import AgentState

MAX_MESSAGES = 60
"""System message, goal and conversation together, as DESIGN.md fixes it."""


def messages_to_send(state: AgentState, system_prompt: str) -> list[BaseMessage]:
    """What the next request sends: the system prompt, and the conversation as far as it fits."""
    conversation = window(state["messages"])
    messages: list[BaseMessage] = [SystemMessage(system_prompt), *conversation]
    strategies = state["failed_strategies"]
    last = messages[-1] = messages[-1].model_copy(deep=True)  # providers put marks on it
    is_cut = len(conversation) < len(state["messages"])
    if is_cut and strategies and isinstance(last, HumanMessage):
        # Before that each stands in the message after its check, and what a provider has cached of
        # the conversation stays as it was.
        messages[-1] = HumanMessage(f"{last.text}\n\n{prompt.tried(strategies)}", id=last.id)
    return messages


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
