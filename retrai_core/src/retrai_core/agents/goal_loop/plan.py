"""The plan node: one model call."""

from __future__ import annotations

import asyncio
from typing import Literal, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.utils import LC_ID_PREFIX
from langgraph.types import Command

from ...contracts.llm import GAVE_UP
from ...errors import ModelError, RetraiError
from ..cancellation import raise_if_cancelled
from ..counted_model import Answer
from . import prompt
from .parts import LoopParts, parts_of
from .routers import should_call_tools
from .state import AgentState, NodeUpdate, PendingCall, Stop
from .window import messages_to_send

MAX_MODEL_FAILURES = 3
"""Model calls that fail in a row before the run ends as `error`; each has had its own retries."""

MAX_IDLE_TURNS = 3
"""Turns in a row without a tool call before the run ends: the model has nothing more to do."""


async def plan(state: AgentState, config: RunnableConfig) -> NodeUpdate:
    """Ask the model what to do next."""
    parts = parts_of(config)
    parts.context.iteration = state["iteration"]
    model = parts.model  # a request goes to the model that was there when it began
    messages = messages_to_send(state, parts.system_prompt)
    allowed = await model.allowance(messages)
    if allowed.problem:
        stop = Stop(outcome="budget", reason=allowed.problem)
        if allowed.needed is not None:
            stop["needed"] = allowed.needed.model_dump()
        return {"pending_tool_calls": [], "stop": stop}
    try:
        answer = await model.ask(messages, allowed)
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever a provider raises is told, and counted
        raise_if_cancelled(error)
        return _failed_call(parts, model.title, state, error)
    return _answered(state, answer)


async def plan_and_go(
    state: AgentState, config: RunnableConfig
) -> Command[Literal["act", "evaluate"]]:
    """`plan`, and on to the node that follows; a router would copy the whole state to see that."""
    update = await plan(state, config)
    following = cast("AgentState", {**state, **update})
    return Command(update=update, goto=should_call_tools(following))


def _failed_call(
    parts: LoopParts, provider: str, state: AgentState, error: BaseException
) -> NodeUpdate:
    message = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if not isinstance(error, RetraiError):
        # A provider says in an error of ours what people should read; anything else is a defect.
        message = f"{provider} failed: {type(error).__name__}: {message}"
    parts.context.publish("error", error=message, where="model")
    failures = state["model_failures"] + 1
    update: NodeUpdate = {"pending_tool_calls": [], "model_failures": failures}
    fatal = isinstance(error, ModelError) and error.fatal
    is_last = state["iteration"] + 1 >= parts.context.max_iterations
    never_answered = failures > state["iteration"]  # each failed call is an iteration
    if fatal or (is_last and never_answered) or failures >= MAX_MODEL_FAILURES:
        times = "" if failures == 1 else f" {failures} times in a row"
        update["stop"] = Stop(outcome="error", reason=f"the model call failed{times}: {message}")
    else:
        update["messages"] = [HumanMessage(f"Your last answer was lost: {message}. Go on.")]
    return update


def _answered(state: AgentState, asked: Answer) -> NodeUpdate:
    answer, pending = asked.message, asked.calls
    cost, more = state["estimated_cost_usd"], asked.used.cost_usd
    idle = 0 if pending else state["idle_turns"] + 1
    update: NodeUpdate = {
        "messages": _kept(answer, pending),
        "pending_tool_calls": pending,
        "model_failures": 0,
        "idle_turns": idle,
        "input_tokens": state["input_tokens"] + asked.used.input_tokens,
        "output_tokens": state["output_tokens"] + asked.used.output_tokens,
        "total_tokens": state["total_tokens"] + asked.used.total_tokens,
        "estimated_cost_usd": None if cost is None or more is None else cost + more,
    }
    if stop := _nothing_more(answer, idle):
        update["stop"] = stop
    return update


def _nothing_more(answer: AIMessage, idle_turns: int) -> Stop | None:
    """The end of a run of whose model no further turn is to be expected."""
    said = " ".join(answer.text.split())[:300] or "nothing"
    if idle_turns and answer.response_metadata.get("finish_reason") == GAVE_UP:
        return Stop(outcome="failed", reason=f"the model gave up; it said: {said}", gave_up=True)
    if idle_turns >= MAX_IDLE_TURNS:
        reason = f"the model called no tool in {idle_turns} turns; it last said: {said}"
        return Stop(outcome="failed", reason=reason)
    return None


def _kept(answer: AIMessage, pending: list[PendingCall]) -> list[AnyMessage]:
    if (answer.id or "").startswith(LC_ID_PREFIX):
        # Made up by LangChain, so the state gives it one by its place, which is found at once.
        answer = answer.model_copy(update={"id": None})
    if pending:
        return [answer]
    if answer.text.strip():
        return [answer, HumanMessage(prompt.NO_CALL)]
    # An empty assistant message is refused by some providers.
    return [HumanMessage(prompt.EMPTY)]
