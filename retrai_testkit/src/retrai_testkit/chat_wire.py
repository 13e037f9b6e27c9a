"""The JSON of OpenAI's chat completions: an answer as a whole, as a stream, or an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .turns import Turn

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
_CREATED = 1_700_000_000


def completion(number: int, model: str, turn: Turn) -> Mapping[str, Any]:
    """A whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = _calls(number, turn)
    choice = {"index": 0, "message": message, "finish_reason": _reason(turn)}
    head = _head(number, model, "chat.completion")
    return {**head, "choices": [choice], "usage": USAGE}


def stream_of(number: int, model: str, turn: Turn) -> bytes:
    """The same answer as server-sent events, text and arguments each in two pieces."""
    head = _head(number, model, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(turn.text)]
    for index, call in enumerate(_calls(number, turn)):
        function = call["function"]
        first = {**call, "index": index, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(function["arguments"])
        ]
    events: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(turn)}]})
    events.append({**head, "choices": [], "usage": USAGE})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def error_body(message: str) -> Mapping[str, Any]:
    """An error as the API words it."""
    return {"error": {"message": message, "type": "fake_error", "param": None, "code": None}}


def _head(number: int, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": _CREATED, "model": model}


def _calls(number: int, turn: Turn) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.args)},
        }
        for index, call in enumerate(turn.calls)
    ]


def _pieces(text: str) -> list[str]:
    half = (len(text) + 1) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]


def _reason(turn: Turn) -> str:
    return "tool_calls" if turn.calls else "stop"
