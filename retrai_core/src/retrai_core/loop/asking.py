"""Asks the model, also ahead: its answer is on the way while LangGraph keeps the step before."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from ..contracts.context import RunContext
from . import prompt
from .budget import Allowance, allowance
from .pricing import price_of
from .spending import Spending, used_by_agent
from .window import window

if TYPE_CHECKING:
    from .state import AgentState


@dataclass(frozen=True)
class Answer:
    """What came of one question.

    Attributes:
        allowed: what the budget said; where it refused the call, that is all.
        message: what the model answered, of whatever class its provider gives.
        error: what the provider raised instead.
        duration_s: how long that took.
    """

    allowed: Allowance
    message: object = None
    error: BaseException | None = None
    duration_s: float = 0.0


@dataclass
class Asking:
    """The questions of one run to its model, one at a time.

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
    _ahead: tuple[list[BaseMessage], asyncio.Task[Answer]] | None = field(default=None, init=False)

    def begin(self, state: AgentState) -> None:
        """Ask now what `answer` is going to ask in this state."""
        shown = self._shown(state)
        self._ahead = shown, asyncio.create_task(self._ask(state, shown))

    async def answer(self, state: AgentState) -> Answer:
        """What the model answers in this state; a question asked ahead counts if it is the same."""
        shown = self._shown(state)
        if self._ahead is not None and self._ahead[0] == shown:
            _, task = self._ahead
            self._ahead = None
            return await task
        await self.drop()
        return await self._ask(state, shown)

    async def drop(self) -> None:
        """Give up a question that nobody waits for any more."""
        if self._ahead is not None:
            _, task = self._ahead
            self._ahead = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _ask(self, state: AgentState, shown: list[BaseMessage]) -> Answer:
        allowed = await self._allowed(state, shown)
        if allowed.problem:
            return Answer(allowed)
        limits: dict[str, Any] = {}
        if allowed.output_tokens is not None:
            limits["max_tokens"] = allowed.output_tokens
        started = time.monotonic()
        try:
            message = await self.model.ainvoke(shown, **limits)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a provider raises is told, and counted
            return Answer(allowed, error=error)
        return Answer(allowed, message, duration_s=time.monotonic() - started)

    def _shown(self, state: AgentState) -> list[BaseMessage]:
        shown: list[BaseMessage] = [SystemMessage(self.system_prompt), *window(state["messages"])]
        strategies = state["failed_strategies"]
        last = shown[-1]
        if strategies and isinstance(last, HumanMessage):
            # With the last message and not in the system prompt, whose beginning a provider can
            # cache.
            shown[-1] = HumanMessage(f"{last.text}\n\n{prompt.tried(strategies)}", id=last.id)
        return shown

    async def _allowed(self, state: AgentState, messages: list[BaseMessage]) -> Allowance:
        spending, context = self.spending, self.context
        if spending.refused is not None:  # and whoever was refused kept it to himself
            return spending.refused
        spending.agent = used_by_agent(state)
        if not (spending.budget.limits_calls and context.provider.uses_tokens):
            only_time = replace(spending.budget, max_cost_usd=None, max_tokens=None)
            return allowance(only_time, messages, 0, 0, 0.0, {})
        price = await price_of(context, context.provider, state["model_name"])
        used = spending.total
        return allowance(
            spending.budget, messages, self.schema_chars, used.total_tokens, used.cost_usd, price
        )
