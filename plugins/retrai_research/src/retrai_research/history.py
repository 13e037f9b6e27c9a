"""The conversation that a run continues, as messages and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from retrai_core import AgentResult

Turns = list[dict[str, str]]


def history_of(previous: AgentResult | None) -> list[AnyMessage]:
    """The questions and answers before this run; what is no such list counts as none."""
    given = previous.data.get("chat_history") if previous is not None else None
    found: list[AnyMessage] = []
    for turn in cast("list[Any]", given) if isinstance(given, list) else []:
        if not isinstance(turn, dict):
            continue
        values = cast("dict[str, object]", turn)
        kind = HumanMessage if values.get("role") == "user" else AIMessage
        found.append(kind(str(values.get("content", ""))))
    return found


def questions_of(history: Sequence[BaseMessage]) -> list[str]:
    """The questions of a conversation, in their order."""
    return [message.text for message in history if isinstance(message, HumanMessage)]


def as_json(state: Mapping[str, Any], answer: str) -> Turns:
    """The conversation up to this answer, as it was checked."""
    messages = cast("Sequence[BaseMessage]", state["chat_history"])
    if state["response"]:
        messages = messages[:-2]  # this run's own question and answer, unchecked
    return [
        *(_turn(message.text, is_user=isinstance(message, HumanMessage)) for message in messages),
        _turn(str(state["input"]), is_user=True),
        _turn(answer, is_user=False),
    ]


def _turn(text: str, *, is_user: bool) -> dict[str, str]:
    return {"role": "user" if is_user else "assistant", "content": text}
