"""The tool calls of an answer, as the loop runs them and as the conversation keeps them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, cast

from langchain_core.messages import AIMessage

from .goal_loop.state import PendingCall
from .tool_names import tool_called, wire_name

MALFORMED = "retrai_malformed_calls"
"""In an answer's `response_metadata`: by id, what was wrong with a call."""


def calls_of(answer: AIMessage, tools: Iterable[str]) -> list[PendingCall]:
    """The calls of an answer, malformed ones too, each with an id of its own."""
    problems = cast("dict[str, str]", answer.response_metadata.get(MALFORMED, {}))
    pending = [
        PendingCall(
            id=call["id"] or "",
            name=tool_called(call["name"], tools),
            args=call["args"],
            problem=problems.get(call["id"] or "", ""),
        )
        for call in answer.tool_calls
    ]
    for bad in answer.invalid_tool_calls:
        problem = f"the arguments are not valid JSON: {str(bad.get('args'))[:500]}"
        name = tool_called(bad.get("name") or "unknown", tools)
        pending.append(PendingCall(id=bad.get("id") or "", name=name, args={}, problem=problem))
    taken: set[str] = set()
    for index, call in enumerate(pending):
        if not call["id"] or call["id"] in taken:
            call["id"] = f"call-{index}-{uuid.uuid4().hex[:8]}"
        taken.add(call["id"])
    return pending


def with_every_call_valid(answer: AIMessage, pending: list[PendingCall]) -> AIMessage:
    """The answer with malformed calls as calls without arguments, so that results can follow."""
    calls = [{"type": "tool_call", **_call(call)} for call in pending]
    return answer.model_copy(
        update={"tool_calls": calls, "invalid_tool_calls": [], "additional_kwargs": {}}
    )


def _call(call: PendingCall) -> dict[str, Any]:
    return {"id": call["id"], "name": wire_name(call["name"]), "args": call["args"]}
