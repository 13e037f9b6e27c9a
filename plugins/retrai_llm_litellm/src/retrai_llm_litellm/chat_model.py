"""The chat model: LangChain's LiteLLM integration with our retries, errors and clean messages.

Importing this module imports LiteLLM; `provider` does so late.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_litellm.chat_models.litellm import ChatLiteLLM
from pydantic import PrivateAttr

from .early import early
from .messages import REPEATED, fresh, plain_result, sendable, whole_answer
from .preparing import prepared_for
from .problems import Asked, NoChoicesError, explain
from .retries import RetryPolicy

Report = Callable[[str], None]


class RetraiChatLiteLLM(ChatLiteLLM):
    """One model of one provider.

    An answer that is delivered whole (`ainvoke`) may be streamed from the server all the same: a
    lost connection is noticed, and the answer asked for again, since nobody has seen its first
    part. When the caller streams (`astream`), only an error before the first part is retried.
    """

    _policy: RetryPolicy = PrivateAttr(default_factory=RetryPolicy)
    _asked: Asked = PrivateAttr(default_factory=lambda: Asked("", ""))
    _report: Report = PrivateAttr(default_factory=lambda: _tell_nobody)
    # The last conversation's messages, by their ids, each with its form on the wire.
    _converted: dict[int, tuple[BaseMessage, dict[str, Any]]] = PrivateAttr(
        default_factory=dict[int, tuple[BaseMessage, dict[str, Any]]]
    )
    # Not the field `streaming`: with that, LangChain calls `_astream` for whole answers too.
    _streams_whole_answers: bool = PrivateAttr(default=False)

    def configure(
        self, policy: RetryPolicy, asked: Asked, report: Report, *, streaming: bool
    ) -> None:
        """Set what is no parameter of the request.

        Args:
            policy: when to ask again.
            asked: what error messages name.
            report: told each time that a request is sent again, in one line.
            streaming: whether answers that are delivered whole are streamed from the server.
        """
        self._policy, self._asked, self._report = policy, asked, report
        self._streams_whole_answers = streaming

    def bound(self, tools: list[dict[str, Any]], choice: Any) -> dict[str, Any]:
        """What a request gets for its tools and the choice among them."""
        bound: Any = cast("Any", self).bind_tools(tools, choice)  # annotated only in part
        return dict(bound.kwargs)

    async def whole(
        self, messages: list[BaseMessage], stop: list[str] | None, **kwargs: Any
    ) -> ChatGeneration:
        """One answer, without LangChain's callbacks, which are the caller's affair.

        Raises:
            ModelError: there is none; it says why in one line.
        """
        return (await self._agenerate(messages, stop, None, **kwargs)).generations[0]

    def parts(
        self, messages: list[BaseMessage], stop: list[str] | None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        """One answer part by part; see `whole`."""
        return self._astream(messages, stop, None, **kwargs)

    async def acompletion_with_retry(
        self, run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> Any:
        """One attempt: what is retried here is the whole answer, in `_agenerate`."""
        with prepared_for(self._asked.provider):
            if kwargs["stream"]:  # read at once: what a lost connection brought is lost with it
                return await self.client.acompletion(**kwargs)
            return await early(self.client.acompletion(**kwargs))

    def _create_message_dicts(
        self, messages: list[BaseMessage], stop: list[str] | None
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        sent = sendable(messages)
        known = self._converted
        new = [message for message in sent if id(message) not in known]
        dicts, params = super()._create_message_dicts(new, stop)
        # An id is its own as long as the message is kept beside its form.
        known = known | {id(m): (m, d) for m, d in zip(new, dicts, strict=True)}
        self._converted = {id(message): known[id(message)] for message in sent}
        # LangChain's integration and LiteLLM change some of them in place.
        return [fresh(known[id(message)][1]) for message in sent], params

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        stream: bool | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        retries = 0
        while True:
            try:
                if self._streams_whole_answers if stream is None else stream:
                    # Without the run manager: a part that is announced cannot be taken back.
                    parts = self._astream_once(messages, stop, None, **kwargs)
                    return plain_result(whole_answer([part async for part in parts]))
                result = await super()._agenerate(messages, stop, run_manager, False, **kwargs)
                if not result.generations:
                    raise NoChoicesError
                return plain_result(result)
            except Exception as error:  # noqa: BLE001 - clients' own errors come through LiteLLM
                problem = error
            # Outside the handler: what is raised inside it carries the original, keys and all.
            await asyncio.sleep(self._wait_or_raise(problem, retries))
            retries += 1

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        retries = 0
        while True:
            delivered = False
            try:
                async for part in self._astream_once(messages, stop, run_manager, **kwargs):
                    delivered = True
                    yield part
                return
            except Exception as error:  # noqa: BLE001 - clients' own errors come through LiteLLM
                problem = error
            if delivered:
                raise explain(problem, self._asked, retries + 1)
            await asyncio.sleep(self._wait_or_raise(problem, retries))
            retries += 1

    async def _astream_once(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for part in super()._astream(messages, stop, run_manager, **kwargs):
            yield _without_repetition(part)

    def _wait_or_raise(self, error: Exception, retries: int) -> float:
        """Seconds until the next attempt.

        Raises:
            ModelError: there is none; it says why in one line.
        """
        problem = explain(error, self._asked, retries + 1)
        wait_s = self._policy.wait_s(error, retries)
        if wait_s is None:
            raise problem
        attempt = f"attempt {retries + 2} of {self._policy.retries_of(error) + 1}"
        self._report(f"{problem.message}; {attempt} in {wait_s:.1f} s")
        return wait_s


def _tell_nobody(message: str) -> None:
    """The report of a model that was made without a run."""


def _without_repetition(part: ChatGenerationChunk) -> ChatGenerationChunk:
    """The part without a second copy of its tool calls, which would be merged and stored too."""
    for name in REPEATED:
        part.message.additional_kwargs.pop(name, None)
    return part
