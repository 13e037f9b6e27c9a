"""Messages as they go to the server, and as they come back: plain, and never rejected for form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast
from uuid import uuid4

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
    messages_from_dict,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from .sent import Shared

T = TypeVar("T")

EMPTY_ANSWER = "(empty answer)"
LONGEST_QUOTE = 500
# What a server is told of a message; how it came to be stays with retrai.
SENT = frozenset(
    {"content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_id"}
    | {"name", "role"}
)
# What `tool_calls` of the message says already, in the objects of a client library.
REPEATED = frozenset({"tool_calls", "function_call"})


def sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The conversation in a form that every provider takes.

    A call whose arguments were not JSON cannot be sent back as a call: the model reads it quoted in
    its own turn, and the answer to it as a user's message after the results of the other calls.
    A turn in which the model said nothing gets a word, since some providers refuse empty ones.
    """
    sent: list[BaseMessage] = []
    answers_to_quoted: list[BaseMessage] = []
    open_calls: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id in open_calls:
                sent.append(message)
            else:
                answers_to_quoted.append(_as_user_message(message))
            continue
        sent.extend(answers_to_quoted)
        answers_to_quoted.clear()
        if isinstance(message, AIMessage):
            open_calls = {call["id"] or "" for call in message.tool_calls}
            sent.append(_with_words(message))
        else:
            sent.append(message)
    return sent + answers_to_quoted


def shared(message: BaseMessage) -> Shared:
    """A message of the conversation, so that what a server is told of it is sent only once."""
    kind, content = type(message), message.content
    if isinstance(content, str) and not message.additional_kwargs:
        # Text is compared without being read where it is the very same as in the turn before.
        key = (kind, message.name, content)
        if kind is HumanMessage or kind is SystemMessage:
            return key, lambda: _sent_form(message)
        if isinstance(message, ToolMessage):
            return (*key, message.tool_call_id), lambda: _sent_form(message)
        if isinstance(message, AIMessage) and kind is AIMessage:
            with suppress(TypeError):  # arguments that only pydantic makes JSON of
                calls = json.dumps((message.tool_calls, message.invalid_tool_calls))
                return (*key, calls), lambda: _sent_form(message)
    form = _sent_form(message)
    return json.dumps(form), lambda: form


def _sent_form(message: BaseMessage) -> dict[str, Any]:
    return {"type": message.type, "data": message.model_dump(mode="json", include=set(SENT))}


def packed(message: BaseMessage) -> dict[str, Any]:
    """A message as JSON knows it; `unpacked` takes it back."""
    return {"type": message.type, "data": message.model_dump(mode="json")}


def unpacked(message: dict[str, Any]) -> BaseMessage:
    """The message that `packed` was given."""
    return messages_from_dict([message])[0]


def fresh(value: T) -> T:
    """A copy of what JSON gave: nobody who changes one in place changes the other."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return cast("T", {k: v if isinstance(v, str) else fresh(v) for k, v in items})
    if isinstance(value, list):
        return cast("T", [fresh(item) for item in cast("list[object]", value)])
    return value


def plain_result(result: ChatResult) -> ChatResult:
    """The result without a client library's objects, so that a checkpoint can store it.

    Every tool call has an id afterwards: some local servers leave it out.
    """
    for generation in result.generations:
        message = generation.message
        generation.generation_info = cast(
            "dict[str, Any] | None", plain(generation.generation_info)
        )
        message.additional_kwargs = {
            str(name): plain(value)
            for name, value in message.additional_kwargs.items()
            if name not in REPEATED
        }
        message.response_metadata = cast("dict[str, Any]", plain(message.response_metadata))
        if isinstance(message, AIMessage):
            for call in [*message.tool_calls, *message.invalid_tool_calls]:
                call["id"] = call["id"] or f"call_{uuid4().hex[:24]}"
    result.llm_output = None
    return result


def whole_answer(parts: Sequence[ChatGenerationChunk]) -> ChatResult:
    """The answer that was streamed in `parts`.

    LangChain's own way completes the JSON of a call that broke off by guess (`{"path": "a` becomes
    `{"path": "a"}`), and half a file would be written; here it is an invalid call.
    """
    chunks = [part.message for part in parts if isinstance(part.message, AIMessageChunk)]
    if not chunks:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=""))])
    merged: AIMessageChunk = chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for call in merged.tool_call_chunks:
        name, text, call_id = call["name"] or "", call["args"] or "", call["id"]
        arguments = _arguments(text)
        if arguments is None:
            bad = InvalidToolCall(
                name=name, args=text, id=call_id, error=None, type="invalid_tool_call"
            )
            invalid.append(bad)
        else:
            calls.append(ToolCall(name=name, args=arguments, id=call_id, type="tool_call"))
    message = AIMessage(
        content=merged.content,
        additional_kwargs=merged.additional_kwargs,
        response_metadata=merged.response_metadata,
        tool_calls=calls,
        invalid_tool_calls=invalid,
        usage_metadata=merged.usage_metadata,
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _arguments(text: str) -> dict[str, Any] | None:
    """A call's arguments; None when they are no JSON object. Some servers send none as ''."""
    if not text.strip():
        return {}
    try:
        # Models write real line breaks into strings; every other form must be right.
        value = json.loads(text, strict=False)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def plain(value: object) -> object:
    """`value` as JSON knows it: pydantic objects become objects, what is left becomes text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): plain(item) for name, item in items}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[object]", value)]
    dump = getattr(value, "model_dump", None)
    return plain(dump(mode="json")) if callable(dump) else str(value)


def _with_words(message: AIMessage) -> AIMessage:
    """The model's turn, with its unreadable calls quoted; itself when there is nothing to add."""
    if message.content and not message.invalid_tool_calls:
        return message
    quotes = [
        f"[I called {call['name'] or 'a tool'} with arguments that are not valid JSON: "
        f"{(call['args'] or '')[:LONGEST_QUOTE]}]"
        for call in message.invalid_tool_calls
    ]
    if not quotes and message.tool_calls:
        return message
    words = [message.text, *quotes] if message.content else quotes
    return message.model_copy(update={"content": "\n".join(words) or EMPTY_ANSWER})


def _as_user_message(message: ToolMessage) -> HumanMessage:
    """The result of a call that was quoted instead of sent."""
    tool = message.name or "the tool"
    return HumanMessage(content=f"[the call of {tool} was not run] {message.text}")
