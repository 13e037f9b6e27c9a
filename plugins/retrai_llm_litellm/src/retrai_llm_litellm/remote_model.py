"""The chat model that a run is given: it passes every call on to the process that runs LiteLLM."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr, SecretStr

from .copilot_tokens import COPILOT
from .frames import Frame
from .messages import shared, unpacked
from .process import LiteLLMProcess
from .sent import Request
from .spec import ModelSpec

LOGIN_LIMIT_S = 1200.0
"""For the longest login, and what is asked before and after it."""

Report = Callable[[str], None]
Priced = Callable[[Mapping[str, Any], Future[float | None]], None]


class RemoteChatLiteLLM(BaseChatModel):
    """One model of one provider. LiteLLM is not imported for it, and no form of it shows a key."""

    spec: ModelSpec

    _spec: str = PrivateAttr()
    _process: LiteLLMProcess = PrivateAttr()
    _report: Report = PrivateAttr()
    _priced: Priced = PrivateAttr()
    _api_key: SecretStr | None = PrivateAttr(default=None)

    def connect(
        self,
        process: LiteLLMProcess,
        report: Report,
        priced: Priced,
        api_key: str | None = None,
    ) -> None:
        """Set who answers.

        Args:
            process: runs LiteLLM.
            report: told each time that a request is sent again, in one line.
            priced: told what each answer will turn out to have cost, by its usage.
            api_key: the caller's own key; None where the process knows one.
        """
        self._api_key = None if api_key is None else SecretStr(api_key)
        self._process, self._report, self._priced = process, report, priced
        self._spec = self.spec.model_dump_json()

    @property
    def _llm_type(self) -> str:
        return "retrai-litellm"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.spec.model, "temperature": self.spec.temperature}

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """See LangChain's `bind_tools`; a tool may be anything that it knows as one."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        bound = self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)
        return cast("Runnable[LanguageModelInput, AIMessage]", bound)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        async for frame in self._process.ask(
            self._request("generate", messages, stop, kwargs), self._limit_s
        ):
            if "done" in frame:
                return self._answered(frame)
            self._report(frame["report"])
        raise AssertionError("unreachable")  # the last frame is the answer or an error

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request("generate", messages, stop, kwargs)
        for frame in self._process.ask_and_wait(request, self._limit_s):
            if "done" in frame:
                return self._answered(frame)
            self._report(frame["report"])
        raise AssertionError("unreachable")  # the last frame is the answer or an error

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        request = self._request("stream", messages, stop, kwargs)
        async for frame in self._process.ask(request, self._limit_s):
            if "report" in frame:
                self._report(frame["report"])
            elif "part" in frame:
                part = _part(frame["part"])
                if run_manager is not None:
                    await run_manager.on_llm_new_token(part.text, chunk=part)
                yield part

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        request = self._request("stream", messages, stop, kwargs)
        for frame in self._process.ask_and_wait(request, self._limit_s):
            if "report" in frame:
                self._report(frame["report"])
            elif "part" in frame:
                part = _part(frame["part"])
                if run_manager is not None:
                    run_manager.on_llm_new_token(part.text, chunk=part)
                yield part

    def _request(
        self, op: str, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> Request:
        own = {name: value for name, value in kwargs.items() if value is not None}
        settings = {
            "spec": self._spec,
            "tools": own.pop("tools", None),
            "tool_choice": own.pop("tool_choice", None),
        }
        key = {} if self._api_key is None else {"api_key": self._api_key.get_secret_value()}
        return Request(
            op,
            {"stop": stop, "kwargs": own, **key},
            (json.dumps(settings), lambda: settings),
            [shared(message) for message in messages],
        )

    @property
    def _limit_s(self) -> float:
        """Between two frames lie at most one wait and one attempt, each with its own limit, and
        with GitHub Copilot a login."""
        login_s = LOGIN_LIMIT_S if self.spec.provider == COPILOT else 0.0
        return self.spec.options.timeout_s + self.spec.options.max_wait_s + login_s

    def _answered(self, frame: Frame) -> ChatResult:
        done = frame["done"]
        message = unpacked(done["message"])
        if isinstance(message, AIMessage) and message.usage_metadata and "cost" in frame:
            self._priced(message.usage_metadata, frame["cost"])
        return ChatResult(
            generations=[ChatGeneration(message=message, generation_info=done["info"])]
        )


def _part(sent: Frame) -> ChatGenerationChunk:
    message = unpacked(sent["message"])
    return ChatGenerationChunk(
        message=cast("BaseMessageChunk", message), generation_info=sent["info"]
    )
