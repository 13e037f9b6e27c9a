"""An answer is passed on before LiteLLM keeps its books, and errors come as they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from retrai_llm_litellm.early import early


@pytest.fixture
def acompletion(monkeypatch: pytest.MonkeyPatch, litellm_is_there: None) -> Any:
    """LiteLLM's own, which asks nobody when it is given what to answer."""
    import litellm

    monkeypatch.setattr(litellm, "callbacks", [])
    return lambda answer: litellm.acompletion(
        model="openai/gpt-4o",
        messages=[{"role": "user", "content": "hi"}],
        api_key="none",
        mock_response=answer,
    )


async def test_the_answer_does_not_wait_for_the_books(
    acompletion: Callable[[Any], Any],
) -> None:
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    opened, kept = asyncio.Event(), asyncio.Event()

    class Slow(CustomLogger):
        async def async_post_call_success_deployment_hook(self, *args: Any) -> None:
            await opened.wait()
            kept.set()

    assert (await early(acompletion("first"))).choices[0].message.content == "first"
    litellm.callbacks.append(Slow())
    answers = await asyncio.gather(early(acompletion("second")), early(acompletion("third")))
    assert [answer.choices[0].message.content for answer in answers] == ["second", "third"]
    assert not kept.is_set()
    opened.set()
    await kept.wait()


async def test_books_that_fail_lose_no_answer(acompletion: Callable[[Any], Any]) -> None:
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    failed = asyncio.Event()

    class Broken(CustomLogger):
        async def async_post_call_success_deployment_hook(self, *args: Any) -> None:
            failed.set()
            raise asyncio.CancelledError

    assert await early(acompletion("first"))
    litellm.callbacks.append(Broken())
    assert (await early(acompletion("second"))).choices[0].message.content == "second"
    await failed.wait()


async def test_what_litellm_raises_is_raised(acompletion: Callable[[Any], Any]) -> None:
    import litellm

    with pytest.raises(litellm.RateLimitError):
        await early(acompletion("litellm.RateLimitError"))


async def test_without_the_hook_it_waits_until_the_end() -> None:
    async def answer() -> str:
        await asyncio.sleep(0)
        return "at the end"

    assert await early(answer()) == "at the end"


async def test_a_caller_that_gives_up_ends_the_request() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(early(answer()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ended.wait()
