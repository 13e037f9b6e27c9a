"""Where LiteLLM prepares its requests: in the event loop's own thread, unless that could block it.

`litellm.acompletion` calls `litellm.completion` in the event loop's executor to prepare a request,
since that may wait for a token or a login. With most providers it only computes, for 2 ms, and on
two busy cores the way to another thread and back takes as long again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

ASK_NOBODY_FIRST = frozenset(
    {"openai", "anthropic", "gemini", "mistral", "groq", "deepseek", "xai", "openrouter"}
)
"""Providers whose key is all that LiteLLM needs to prepare a request."""

_AT_ONCE: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def prepared_for(provider: str) -> Generator[None]:
    """What is started inside may run its first piece of work in the thread it was started from."""
    before = _AT_ONCE.set(provider in ASK_NOBODY_FIRST)
    try:
        yield
    finally:
        _AT_ONCE.reset(before)


class PreparingExecutor(ThreadPoolExecutor):
    """For `loop.set_default_executor`: see `prepared_for`."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it here and now where that was allowed, else in a thread."""
        if not _AT_ONCE.get():
            return super().submit(fn, *args, **kwargs)
        _AT_ONCE.set(False)  # looking up the server's address waits
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as in a thread, whoever waits is told
            done.set_exception(error)
        return done
