"""One answer of a model: as a whole, or in pieces if somebody reads them as they arrive."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    message_chunk_to_message,
)
from langchain_core.runnables import Runnable

from ..contracts.context import RunContext
from ..plugins.error_attribution import WrongAnswerError


async def answer_of(
    model: Runnable[Any, Any],
    messages: Sequence[BaseMessage],
    context: RunContext,
    **given: Any,
) -> AIMessage:
    """Ask the model, and hand on its text as it comes where the run has a reader for that.

    Raises:
        WrongAnswerError: it answered with something else.
    """
    if not context.wants_deltas():
        return _message(await model.ainvoke(list(messages), **given), context)
    message_id, whole = f"message-{uuid.uuid4().hex[:12]}", cast("Any", None)
    async for piece in model.astream(list(messages), **given):
        text = piece.text if isinstance(piece, BaseMessage) else ""
        if text and context.live is not None:
            context.live.send(message_id, context.redact(text))
        # A model that cannot stream gives one message, which is no chunk.
        whole = piece if whole is None else whole + piece
    if isinstance(whole, AIMessageChunk):
        whole = message_chunk_to_message(whole)
    return _message(whole, context)


def _message(answer: object, context: RunContext) -> AIMessage:
    if not isinstance(answer, AIMessage):
        what = f"it answered with a {type(answer).__name__}, not an AIMessage"
        raise WrongAnswerError(context.provider_part, what)
    return answer
