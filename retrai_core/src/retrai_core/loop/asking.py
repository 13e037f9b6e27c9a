"""Asks the model, also ahead: its answer is on the way while LangGraph keeps the step before."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from ..contracts.context import RunContext
from . import prompt
from .budget import Allowance, allowance, prompt_text
from .calls import calls_of
from .cancelling import raise_if_cancelled
from .deltas import answer_of
from .pricing import cost_of, price_of, tokens_of
from .spending import Spending, Usage, used_by_agent
from .step_starts import StepStarts
from .window import window

if TYPE_CHECKING:
    from .state import AgentState, PendingCall

_DROP_LIMIT_S = 2.0
"""For a model that is slow to give up; nobody waits for it longer."""


@dataclass(frozen=True)
class Answer:
    """What came of one question.

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


class _Ahead(NamedTuple):
    """A question that was asked ahead, and what decided on its words."""

    conversation: list[AnyMessage]
    strategies: list[str]
    answer: asyncio.Task[Answer]


@dataclass
class Asking:
    """The questions of one run to its model, one at a time.

    Attributes:
        context: the run.
        model: the chat model with the run's tools bound to it.
        system_prompt: the first message of every question.
        spending: what the run's model calls may use and have used.
        steps: tells that the node `plan` begins.
        schema_chars: the length of the tools' descriptions, which every call sends.
    """

    context: RunContext
    model: Runnable[list[BaseMessage], AIMessage]
    system_prompt: str
    spending: Spending
    steps: StepStarts
    schema_chars: int = 0
    _ahead: _Ahead | None = field(default=None, init=False)

    def begin(self, state: AgentState) -> None:
        """Ask now what `answer` is going to ask in this state."""
        assert self._ahead is None
        task = asyncio.create_task(self._ask(state))
        self._ahead = _Ahead(window(state["messages"]), list(state["failed_strategies"]), task)

    async def answer(self, state: AgentState) -> Answer:
        """What the model answers in this state; a question asked ahead counts if it is the same."""
        ahead, now = self._ahead, (window(state["messages"]), state["failed_strategies"])
        if ahead is not None and (ahead.conversation, ahead.strategies) == now:
            self._ahead = None
            return await ahead.answer
        await self.drop()
        return await self._ask(state)

    async def drop(self) -> bool:
        """Give up a question that nobody waits for any more; whether it was answered all the same.

        What such an answer used stands in the run's log, and in no state.
        """
        if self._ahead is None:
            return False
        task = self._ahead.answer
        self._ahead = None
        task.cancel()
        await asyncio.wait({task}, timeout=_DROP_LIMIT_S)
        if not task.done() or task.cancelled():
            return False
        if error := task.exception():
            message = f"a question that was given up has failed: {type(error).__name__}: {error}"
            self.context.publish("log", level="warning", message=self.context.redact(message))
            return False
        return task.result().message is not None

    async def _ask(self, state: AgentState) -> Answer:
        shown = self._shown(state)
        allowed = await self._allowed(state, shown)
        if allowed.problem:
            return Answer(allowed)
        limits: dict[str, Any] = {}
        if allowed.output_tokens is not None:
            limits["max_tokens"] = allowed.output_tokens
        started = time.monotonic()
        try:
            message = await answer_of(self.model, shown, self.context, **limits)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever a provider raises is told, and counted
            raise_if_cancelled(error)
            return Answer(allowed, error)
        calls = calls_of(message, self.context.tools)
        used = await self._booked(state["model_name"], message, calls, time.monotonic() - started)
        return Answer(allowed, message=message, calls=calls, used=used)

    async def _booked(
        self, model: str, message: AIMessage, calls: list[PendingCall], duration_s: float
    ) -> Usage:
        """What the answer used, told to the log first: it is paid for, whatever comes next."""
        usage = cast("dict[str, Any]", message.usage_metadata or {})
        context = self.context
        cost = await cost_of(context, context.provider, model, usage) if usage else 0.0
        counts = [int(usage.get(f"{name}_tokens", 0)) for name in ("input", "output", "total")]
        if self._ahead is not None:  # it came before the step that waits for it
            self.steps.begin_early("plan")
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
        price = await price_of(context, context.provider, state["model_name"])
        prompt = prompt_text(messages)
        model, used = state["model_name"], spending.total
        return allowance(
            spending.budget,
            messages,
            self.schema_chars,
            used.total_tokens,
            used.cost_usd,
            price,
            await tokens_of(context, context.provider, model, prompt, len(messages)),
        )
