"""One step: the prompt, the model's answer, and what it means."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from . import prompts
from .context import Prompt, PromptBuilder, PromptTooLongError
from .declarations import Declarations, read_declarations
from .models import ModelCallError, Models
from .parsing import Call, Reply, parse_reply, render_call
from .schemas import StepRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_QUOTE = 1_000
_MAX_NAMES = 50
_REPEATS = 3


class StepService:
    """Makes steps; it keeps nothing of one.

    Args:
        builder: makes the prompts.
        models: answers them.
    """

    def __init__(self, builder: PromptBuilder, models: Models) -> None:
        self._builder = builder
        self._models = models

    async def step(self, request: StepRequest) -> dict[str, Any]:
        """The answer to a request, as JSON values."""
        warnings: list[str] = []
        try:
            prompt, declared = await asyncio.to_thread(self._prepare, request)
            warnings += prompt.warnings
            reply = await self._reply(request, prompt.messages, declared)
        except PromptTooLongError:
            config = request.llm_config
            message = (
                f"tokenLimit {config.token_limit} less reservedOutputTokens "
                f"{config.reserved_output_tokens} is too small for the shortest prompt"
            )
            return _failed(request, "TOKEN_LIMIT_TOO_SMALL", message, warnings)
        except ModelCallError as error:
            return _failed(request, error.code, error.message, warnings)
        return _done(request, reply, declared, warnings)

    def _prepare(self, request: StepRequest) -> tuple[Prompt, Declarations]:
        prompt = self._builder.build(request)
        is_last = request.max_iterations_left == 0
        segment = "" if is_last else request.available_tools_prompt_segment
        return prompt, read_declarations(segment)

    async def _reply(
        self, request: StepRequest, messages: Sequence[BaseMessage], declared: Declarations
    ) -> Reply:
        """What the model says; an action with an unknown tool is told to it once.

        Raises:
            ModelCallError: it says nothing.
        """
        text, reply = await self._ask(request, messages)
        if request.max_iterations_left == 0 and reply.call is not None:
            return Reply("", None, reply.thought or text)
        if reply.call is None or not declared or reply.call.name in declared:
            return reply
        known = ", ".join(list(declared)[:_MAX_NAMES])
        problem = prompts.UNKNOWN_TOOL.format(name=reply.call.name[:100], known=known)
        again = [AIMessage(f"Action: {reply.call.source[:_MAX_QUOTE]}"), HumanMessage(problem)]
        text, reply = await self._ask(request, [*messages, *again])
        if reply.call is None or reply.call.name in declared:
            return reply
        return Reply("", None, text)

    async def _ask(
        self, request: StepRequest, messages: Sequence[BaseMessage]
    ) -> tuple[str, Reply]:
        """The model's text, and what it means."""
        key = request.user_api_keys.llm_key.get_secret_value()
        message = await self._models.ask(request.llm_config, key, messages)
        text = message.text.strip()
        reply = parse_reply(text)
        if message.tool_calls and reply.call is None:
            native = message.tool_calls[0]
            source = render_call(native["name"], native["args"])
            said = parse_reply(f"{text}\nAction: {source}")
            thought = said.thought or said.answer or ""
            text = text or source
            reply = Reply(thought, Call(native["name"], (), native["args"], source))
        if not text:
            name = request.llm_config.model_name
            raise ModelCallError("MODEL_EMPTY_ANSWER", f"{name} answered nothing")
        return text, reply


def _done(
    request: StepRequest, reply: Reply, declared: Declarations, warnings: list[str]
) -> dict[str, Any]:
    history = _history(request)
    if request.user_query.strip():
        history.append({"role": "user", "content": request.user_query, "timestamp": _now()})
    turn = {"role": "assistant", "content": reply.thought, "timestamp": _now()}
    action: dict[str, Any] | None = None
    answer: str | None = None
    if reply.call is not None:
        arguments = reply.call.arguments(declared.get(reply.call.name, ()))
        call = {"name": reply.call.name, "parameters": arguments}
        if _is_repeated(request, call):
            warnings.append(f"the same action was proposed {_REPEATS} times in a row")
        turn["toolCall"] = call
        action = {
            "tool_name": reply.call.name,
            "tool_args": arguments,
            "raw_action_string": reply.call.source,
        }
    else:
        answer = reply.answer or reply.thought
        turn["content"] = "\n\n".join(filter(None, [reply.thought, reply.answer]))
    return {
        "session_id": str(request.session_id),
        "thought": reply.thought,
        "action_details": action,
        "direct_response": answer,
        "updated_conversation_history": [*history, turn],
        "iterations_remaining": max(0, request.max_iterations_left - 1),
        "status": "direct_response_provided" if action is None else "action_proposed",
        "warnings": warnings,
    }


def _failed(request: StepRequest, code: str, message: str, warnings: list[str]) -> dict[str, Any]:
    return {
        "session_id": str(request.session_id),
        "thought": "",
        "action_details": None,
        "direct_response": None,
        "updated_conversation_history": _history(request),
        "iterations_remaining": request.max_iterations_left,
        "status": "error",
        "error": {"code": code, "message": message},
        "warnings": warnings,
    }


def _history(request: StepRequest) -> list[dict[str, Any]]:
    """The turns as they came."""
    turns = request.conversation_history
    return [turn.model_dump(by_alias=True, exclude_unset=True) for turn in turns]


def _is_repeated(request: StepRequest, call: dict[str, Any]) -> bool:
    """Whether the last actions of the history are this one too."""
    turns = reversed(request.conversation_history)
    calls = (turn.tool_call for turn in turns if turn.role == "assistant")
    last = [each for each, _ in zip(calls, range(_REPEATS - 1), strict=False)]
    same = (each is not None and each.model_dump() == call for each in last)
    return len(last) == _REPEATS - 1 and all(same)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
