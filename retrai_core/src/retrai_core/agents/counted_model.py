"""Chat models whose calls count against the run's budget: the agent's own and others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..contracts.context import RunContext
from ..contracts.llm import LLMProvider
from ..errors import BudgetSpentError
from .budget import Allowance, allowance, prompt_text
from .deltas import answer_of
from .goal_loop.state import PendingCall
from .messages import MALFORMED, calls_of, with_every_call_valid
from .pricing import cost_of, price_of, tokens_of
from .spending import Spending, Usage


@dataclass(frozen=True)
class Answer:
    """An answer of a model.

    Attributes:
        message: what it said.
        calls: the tool calls in it, malformed ones too, each with an id of its own.
        used: what it cost; it is booked already.
    """

    message: AIMessage
    calls: list[PendingCall]
    used: Usage


class Account:
    """Books the calls of one model.

    Args:
        context: the run.
        spending: what the run may use and has used.
        name: the model's.
        provider: knows its price.
        beside: it is another one than the agent's, whose words are not told.
    """

    def __init__(
        self,
        context: RunContext,
        spending: Spending,
        name: str,
        provider: LLMProvider,
        *,
        beside: bool = True,
    ) -> None:
        self._beside = beside
        self.context = context
        self._provider = provider
        self.spending = spending
        self.name = name

    async def allowance(self, messages: Sequence[BaseMessage], schema_chars: int) -> Allowance:
        """How long the answer may be, or why there is none.

        Args:
            messages: what the call would send.
            schema_chars: the length of the descriptions of the model's tools.
        """
        spending = self.spending
        if spending.refused is not None:  # and whoever was refused kept it to himself
            return spending.refused
        if not (spending.budget.limits_calls and self._provider.uses_tokens):
            return Allowance()
        asked = self.context, self._provider, self.name
        price = await price_of(*asked)
        counted = await tokens_of(*asked, prompt_text(messages), len(messages))
        used = spending.used
        allowed = allowance(
            spending.budget,
            messages,
            schema_chars,
            used.total_tokens,
            used.cost_usd,
            price,
            counted,
        )
        if allowed.problem and self._beside:
            problem = f"{allowed.problem} (for {self.name}, beside the agent's model)"
            return replace(allowed, problem=problem)
        return allowed

    async def book(
        self, answer: AIMessage, calls: Sequence[PendingCall], duration_s: float
    ) -> Usage:
        """Count an answer, and tell that it was given: it is paid for, whatever comes next."""
        used = cast("dict[str, Any]", answer.usage_metadata or {})
        cost = await cost_of(self.context, self._provider, self.name, used) if used else 0.0
        counts = [int(used.get(f"{name}_tokens", 0)) for name in ("input", "output", "total")]
        usage = Usage(*counts, cost_usd=cost)
        self.spending.used += usage
        self.context.publish(
            "llm_usage",
            model=self.name,
            text="" if self._beside else answer.text,
            tool_calls=[]
            if self._beside
            else [{"id": c["id"], "name": c["name"], "args": c["args"]} for c in calls],
            prompt_tokens=counts[0],
            completion_tokens=counts[1],
            total_tokens=counts[2],
            cost_usd=cost,
            duration_s=round(duration_s, 3),
            finish_reason=answer.response_metadata.get("finish_reason"),
            beside=self._beside,
        )
        return usage


class CountedModel(BaseChatModel):
    """Wraps a model, and books the usage of each call.

    Attributes:
        model: the model, or what came of binding tools to it.
        account: an `Account`.
        schema_chars: the length of the descriptions of its tools, which every call sends.
    """

    model: Any
    account: Any
    schema_chars: int = 0

    @property
    def _llm_type(self) -> str:
        return "counted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """The model with these tools bound; itself without tools.

        Raises:
            NotImplementedError: the model cannot call tools.
        """
        if not tools:
            return self
        bound = self.model.bind_tools(tools, **kwargs)
        chars = sum(len(str(convert_to_openai_tool(tool))) for tool in tools)
        return self.model_copy(update={"model": bound, "schema_chars": chars})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        spending: Spending = self.account.spending
        if not spending.budget.limits_calls:
            return await self._ask_within_limits(messages, stop, kwargs)
        async with spending.turn:
            return await self._ask_within_limits(messages, stop, kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """For a plugin's thread: the run's own event loop would wait for itself.

        Raises:
            RuntimeError: it was called on that loop.
        """
        spending: Spending = self.account.spending
        if threading.get_ident() == spending.thread:
            raise RuntimeError("`invoke` would wait for itself here: await `ainvoke`")
        asked = self._agenerate(messages, stop, **kwargs)
        return asyncio.run_coroutine_threadsafe(asked, spending.loop).result()

    async def _ask_within_limits(
        self, messages: list[BaseMessage], stop: list[str] | None, given: dict[str, Any]
    ) -> ChatResult:
        allowed = await self.allowance(messages)
        if allowed.problem:
            self.account.spending.refused = allowed
            raise BudgetSpentError(allowed.problem)
        if stop is not None:
            given = given | {"stop": stop}
        answer = await self.ask(messages, allowed, **given)
        return ChatResult(generations=[ChatGeneration(message=answer.message)])

    async def allowance(self, messages: Sequence[BaseMessage]) -> Allowance:
        """Whether the budget lets them be sent."""
        account: Account = self.account
        return await account.allowance(messages, self.schema_chars)

    async def ask(self, messages: list[BaseMessage], allowed: Allowance, **given: Any) -> Answer:
        """The model's answer, which is booked; raises whatever its provider does."""
        account: Account = self.account
        if allowed.output_tokens is not None:
            longest = given.get("max_tokens", allowed.output_tokens)
            given["max_tokens"] = min(longest, allowed.output_tokens)
        started = time.monotonic()
        message = await self._answer(messages, given)
        calls = calls_of(message, account.context.tools)
        used = await account.book(message, calls, time.monotonic() - started)
        return Answer(message, calls, used)

    async def _answer(self, messages: list[BaseMessage], given: dict[str, Any]) -> AIMessage:
        return await self.model.ainvoke(messages, **given)


class AgentModel(CountedModel):
    """The agent's own model: redacts its input and publishes its output as it arrives.

    Attributes:
        context: the run's `RunContext`.
        title: the model's provider and its distribution, for messages.
    """

    context: Any
    title: str

    async def _answer(self, messages: list[BaseMessage], given: dict[str, Any]) -> AIMessage:
        context = cast("RunContext", self.context)
        redact = context.redactor.value
        sent = [each.model_copy(update={"content": redact(each.content)}) for each in messages]
        answer = await answer_of(self.model, sent, context, **given)
        calls = calls_of(answer, context.tools)
        if [call["id"] for call in answer.tool_calls] != [call["id"] for call in calls]:
            answer = with_every_call_valid(answer, calls)
            problems = {call["id"]: call["problem"] for call in calls if call["problem"]}
            answer.response_metadata = {**answer.response_metadata, MALFORMED: problems}
        return answer
