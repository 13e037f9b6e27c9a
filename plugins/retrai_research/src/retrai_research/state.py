"""The state of the agent's graph; a module of its own, since LangGraph is slow to import."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.managed import RemainingSteps


class ResearchState(TypedDict):
    """What a run knows; everything in it survives a kill.

    Attributes:
        input: the question.
        chat_history: earlier questions and answers.
        plan: the steps.
        current_step: the index of the next one in `plan`.
        findings: what was found, by `step_{i}: {description}`; `i` counts through the whole run.
        response: the answer.
        loop_decision: the refinery's last one.
        messages: the conversation of the current step.
        executor_call_count: how often the model was asked in this step.
        iteration_count: how many plans were made.
        remaining_steps: how many nodes may still run; LangGraph keeps it.
    """

    input: str
    chat_history: Annotated[list[AnyMessage], add_messages]
    plan: list[str]
    current_step: int
    findings: dict[str, str]
    response: str
    loop_decision: Literal["CONTINUE", "FINISH"]
    messages: Annotated[list[AnyMessage], add_messages]
    executor_call_count: int
    iteration_count: int
    remaining_steps: RemainingSteps
