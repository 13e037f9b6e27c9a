"""LiteLLM's answers as soon as they have been read: its books are kept afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

_ANSWER: ContextVar[asyncio.Future[Any] | None] = ContextVar("answer", default=None)


class _EarlyAnswers(CustomLogger):
    """Passes an answer on before LiteLLM reckons what it cost and tells its loggers of it."""

    async def async_post_call_success_deployment_hook(
        self, request_data: Any, response: Any, call_type: Any
    ) -> Any:
        """LiteLLM calls it with what a server said, in the task of the request."""
        answer = _ANSWER.get()
        if answer is not None and not answer.done():
            answer.set_result(response)
            await asyncio.sleep(0)  # whoever waits for it goes first
        return response


_HANDLER = _EarlyAnswers()
_AT_ITS_BOOKS: set[asyncio.Task[Any]] = set()  # the event loop itself keeps no task alive


async def early(completion: Coroutine[Any, Any, Any]) -> Any:
    """The answer of `litellm.acompletion`, or what it raises; given up together with its caller.

    A release that does not call the hook is waited for until it is done.
    """
    if _HANDLER not in litellm.callbacks:
        litellm.callbacks.append(_HANDLER)
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    before = _ANSWER.set(answer)
    task = asyncio.create_task(completion)
    _ANSWER.reset(before)
    _AT_ITS_BOOKS.add(task)

    def settle(_: object) -> None:
        _AT_ITS_BOOKS.discard(task)
        if task.cancelled():
            answer.cancel()
        elif (problem := task.exception()) is not None:
            if not answer.done():
                answer.set_exception(problem)
        elif not answer.done():
            answer.set_result(task.result())

    task.add_done_callback(settle)
    try:
        return await answer
    except asyncio.CancelledError:
        task.cancel()
        raise
