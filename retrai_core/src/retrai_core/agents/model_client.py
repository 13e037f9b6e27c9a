"""The goal loop's requests to its model: what they show, and what came of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from ..contracts.context import RunContext
from .budget import Allowance
from .counted_model import Account
from .deltas import answer_of
from .goal_loop import prompt
from .goal_loop.window import window
from .messages import calls_of
from .spending import Usage

if TYPE_CHECKING:
    from .goal_loop.state import AgentState, PendingCall


@dataclass(frozen=True)
class Answer:
    """An answer of the model.

    Attributes:
        message: what it said.
        calls: the tool calls in it, malformed ones too, each with an id of its own.
        used: what it cost; it is booked already.
    """

    message: AIMessage
    calls: list[PendingCall]
    used: Usage


@dataclass(frozen=True)
class ModelClient:
    """Sends the requests of one run to its model, one at a time.

    Attributes:
        context: the run.
        model: the chat model with the run's tools bound to it.
        account: books its calls.
        title: the model's provider and its distribution, for messages.
        system_prompt: the first message of every request.
        schema_chars: the length of the tools' descriptions, which every call sends.
    """

    context: RunContext
    model: Runnable[list[BaseMessage], AIMessage]
    account: Account
    title: str
    system_prompt: str
    schema_chars: int

    def messages(self, state: AgentState) -> list[BaseMessage]:
        """What the next request sends."""
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

    async def allowance(self, messages: list[BaseMessage]) -> Allowance:
        """Whether the budget lets them be sent."""
        return await self.account.allowance(messages, self.schema_chars)

    async def ask(self, messages: list[BaseMessage], allowed: Allowance) -> Answer:
        """The model's answer; raises whatever its provider does."""
        limits: dict[str, Any] = {}
        if allowed.output_tokens is not None:
            limits["max_tokens"] = allowed.output_tokens
        started = time.monotonic()
        message = await answer_of(self.model, messages, self.context, **limits)
        calls = calls_of(message, self.context.tools)
        used = await self.account.book(message, calls, time.monotonic() - started)
        return Answer(message, calls, used)
