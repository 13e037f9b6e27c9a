"""The chat model that searches for a repair and asks for it through the run's tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict

from retrai_core import GAVE_UP

from . import wording
from .answer import Answer, Effort
from .memory import KEY, Memory, Patch, refused
from .searching import Searcher

Call = tuple[str, Mapping[str, Any]]


class OfflineModel(BaseChatModel):
    """Looks at the failing tests, searches, reads what it will change, and patches it.

    It writes nothing itself. What it knows travels in its answers (see `memory`), so a resumed run
    goes on where it was; a search that was cut off is made again.

    Attributes:
        searcher: starts searches in the run's sandbox.
        max_searches: after so many in a row that find nothing to fix it gives up.
        tool_names: what this run offers; None as long as nothing is bound.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    searcher: Searcher
    max_searches: int = 4
    tool_names: frozenset[str] | None = None

    @property
    def _llm_type(self) -> str:
        return "retrai-offline"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """This model, with the tools that it may ask for."""
        names = frozenset(str(convert_to_openai_tool(tool)["function"]["name"]) for tool in tools)
        return cast(
            "Runnable[LanguageModelInput, AIMessage]",
            self.model_copy(update={"tool_names": names}),
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return asyncio.run(self._agenerate(messages, stop))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await self.answer(messages)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """The next turn."""
        memory = Memory.recall(messages)
        if not self._has("file_patch"):
            memory.given_up = "I cannot change anything here: the tool file_patch is not offered."
        if memory.given_up:
            return _message(memory, memory.given_up)
        if memory.turn == 0 and self._has("run_pytest") and not hangs(messages):
            return _message(memory, wording.LOOK, ("run_pytest", {}))
        complaint = refused(messages) if memory.asked else ""
        if complaint:
            _drop(memory)
        elif memory.asked is not None:
            memory.in_vain = 0
        if not memory.queue:
            return await self._search(memory)
        return _next_patch(memory)

    async def _search(self, memory: Memory) -> AIMessage:
        if memory.in_vain >= self.max_searches:
            memory.given_up = wording.refused(memory.effort)
            return _message(memory, memory.given_up)
        found = await self.searcher.search(memory.search_state)
        memory.search_state = found.state
        memory.effort += Effort.of(found)
        memory.asked = None
        memory.in_vain += 1
        if found.steps:
            memory.queue = [patch for step in found.steps for patch in _patches(step)]
            paths = dict.fromkeys(step.path for step in found.steps)
            calls = self._reads(list(paths))
            if calls:
                return _message(memory, wording.found(found), *calls)
            return _next_patch(memory)
        return await self._without_steps(memory, found)

    async def _without_steps(self, memory: Memory, found: Answer) -> AIMessage:
        suspects = list(dict.fromkeys(path for path, _ in found.suspects))
        calls = self._reads(suspects[:3])
        if found.end == "out-of-budget" and memory.in_vain < self.max_searches:
            if not calls:
                return await self._search(memory)
            return _message(memory, wording.going_on(found), *calls)
        memory.given_up = wording.given_up(found, memory.effort)
        return _message(memory, memory.given_up)

    def _reads(self, paths: Sequence[str]) -> list[Call]:
        return [("file_read", {"path": path}) for path in paths] if self._has("file_read") else []

    def _has(self, name: str) -> bool:
        return self.tool_names is None or name in self.tool_names


def hangs(messages: Sequence[BaseMessage]) -> bool:
    """Whether the check already ran into its time-out: then one more run only costs as much again.

    The search has limits of its own for each test.
    """
    return any("still running after" in message.text for message in messages[:3])


def _patches(step: Any) -> list[Patch]:
    return [
        Patch(path=step.path, old=old, new=new, reason=wording.reason(step), key=step.key)
        for old, new in step.patches
    ]


def _drop(memory: Memory) -> None:
    """Forget a repair whose patch was refused, and do not find it again."""
    asked = memory.asked
    if asked is not None and asked.key:
        known: list[str] = memory.search_state.get("refused", [])
        memory.search_state = {**memory.search_state, "refused": sorted({*known, asked.key})}
    memory.queue = []
    memory.asked = None


def _next_patch(memory: Memory) -> AIMessage:
    patch, *memory.queue = memory.queue
    memory.asked = patch
    arguments = {"path": patch.path, "old": patch.old, "new": patch.new}
    return _message(memory, patch.reason, ("file_patch", arguments))


def _message(memory: Memory, text: str, *calls: Call) -> AIMessage:
    memory.turn += 1
    return AIMessage(
        content=text,
        tool_calls=[
            ToolCall(name=name, args=dict(arguments), id=f"offline-{memory.turn}-{number}")
            for number, (name, arguments) in enumerate(calls, 1)
        ],
        id=f"offline-{memory.turn}",
        additional_kwargs={KEY: memory.model_dump(mode="json")},
        response_metadata={"finish_reason": GAVE_UP} if memory.given_up else {},
        usage_metadata=UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0),
    )
