"""Asks the model what to do next, within the budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from ..contracts.context import RunContext
from .budget import Allowance, allowance, prompt_text
from .cancellation import raise_if_cancelled
from .deltas import answer_of
from .goal_loop import prompt
from .goal_loop.window import window
from .messages import calls_of
from .pricing import cost_of, price_of, tokens_of
from .spending import Spending, Usage, used_by_agent

if TYPE_CHECKING:
    from .goal_loop.state import AgentState, PendingCall


@dataclass(frozen=True)
class Answer:
    """The result of one request to the model.

    Attributes:
        allowed: what the budget said; where it refused the call, that is all.
        error: what the provider raised, or what is wrong with what it gave; None beside a message.
        message: what the model answered.
        calls: the tool calls in it, malformed ones too, each with an id of its own.
        used: what it cost; the run's log knows it already.
    """

    allowed: Allowance
    error: BaseException | None = None
    message: AIMessage | None = None
    calls: list[PendingCall] = field(default_factory=list["PendingCall"])
    used: Usage = field(default_factory=Usage)


@dataclass
class Asking:
    """Sends the requests of one run to its model, one at a time.

    Attributes:
        context: the run.
        model: the chat model with the run's tools bound to it.
        system_prompt: the first message of every question.
        spending: what the run's model calls may use and have used.
        schema_chars: the length of the tools' descriptions, which every call sends.
    """

    context: RunContext
    model: Runnable[list[BaseMessage], AIMessage]
    system_prompt: str
    spending: Spending
    schema_chars: int = 0

    async def answer(self, state: AgentState) -> Answer:
        """What the model answers in this state."""
        shown = self._shown(state)
        allowed = await self._allowed(state, shown)
        if allowed.problem:
            return Answer(allowed)
        limits: dict[str, Any] = {}
        if allowed.output_tokens is not None:
            limits["max_tokens"] = allowed.output_tokens
        model, started = self.context.model_name, time.monotonic()
        try:
            message = await answer_of(self.model, shown, self.context, **limits)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever a provider raises is told, and counted
            raise_if_cancelled(error)
            return Answer(allowed, error)
        calls = calls_of(message, self.context.tools)
        used = await self._booked(model, message, calls, time.monotonic() - started)
        return Answer(allowed, message=message, calls=calls, used=used)

    async def _booked(
        self, model: str, message: AIMessage, calls: list[PendingCall], duration_s: float
    ) -> Usage:
        """What the answer used, told to the log first: it is paid for, whatever comes next."""
        usage = cast("dict[str, Any]", message.usage_metadata or {})
        context = self.context
        cost = await cost_of(context, context.provider, model, usage) if usage else 0.0
        counts = [int(usage.get(f"{name}_tokens", 0)) for name in ("input", "output", "total")]
        context.publish(
            "llm_usage",
            model=model,
            text=message.text,
            tool_calls=[{"id": c["id"], "name": c["name"], "args": c["args"]} for c in calls],
            prompt_tokens=counts[0],
            completion_tokens=counts[1],
            total_tokens=counts[2],
            cost_usd=cost,
            duration_s=round(duration_s, 3),
            finish_reason=message.response_metadata.get("finish_reason"),
        )
        return Usage(*counts, cost_usd=cost)

    def _shown(self, state: AgentState) -> list[BaseMessage]:
        conversation = window(state["messages"])
        shown: list[BaseMessage] = [SystemMessage(self.system_prompt), *conversation]
        strategies = state["failed_strategies"]
        last = shown[-1] = shown[-1].model_copy(deep=True)  # providers put marks on it
        is_cut = len(conversation) < len(state["messages"])
        if is_cut and strategies and isinstance(last, HumanMessage):
            # Before that each stands in the message after its check, and what a provider has
            # cached of the conversation stays as it was.
            shown[-1] = HumanMessage(f"{last.text}\n\n{prompt.tried(strategies)}", id=last.id)
        return shown

    async def _allowed(self, state: AgentState, messages: list[BaseMessage]) -> Allowance:
        spending, context = self.spending, self.context
        if spending.refused is not None:  # and whoever was refused kept it to himself
            return spending.refused
        spending.agent = used_by_agent(state)
        if not (spending.budget.limits_calls and context.provider.uses_tokens):
            return Allowance()
        price = await price_of(context, context.provider, context.model_name)
        prompt = prompt_text(messages)
        model, used = context.model_name, spending.total
        return allowance(
            spending.budget,
            messages,
            self.schema_chars,
            used.total_tokens,
            used.cost_usd,
            price,
            await tokens_of(context, context.provider, model, prompt, len(messages)),
        )
