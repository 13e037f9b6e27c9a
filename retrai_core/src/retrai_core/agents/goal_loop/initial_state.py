"""The initial state of the goal loop."""

from __future__ import annotations

from langchain_core.messages import AnyMessage, HumanMessage

from ...contracts.context import RunContext
from ...contracts.goal import GoalResult
from ...workspace.key_files import project_outline
from . import prompt
from .progress import fresh_progress
from .state import AgentState


def fresh_state(context: RunContext, baseline: GoalResult) -> AgentState:
    """The state before the first turn: goal, task, baseline and the project's key files.

    Args:
        context: the run.
        baseline: what the check says of the project as it stands.
    """
    words = context.redact(prompt.opening(context.goal_name, context.task, baseline))
    if context.max_iterations == 1 and context.stop_mode == "soft":
        words = f"{words}\n\n{prompt.LAST_ITERATION}"
    messages: list[AnyMessage] = [HumanMessage(words, id="goal")]
    if context.context_tokens:
        listing, shown = project_outline(context.workspace, context.context_tokens)
        overview = context.redact(prompt.project_overview(listing, shown))
        messages.append(HumanMessage(overview, id="overview"))
    return {
        "messages": messages,
        "pending_tool_calls": [],
        "tool_results": [],
        "goal_achieved": False,
        "goal_reason": baseline.reason,
        "iteration": 0,
        "max_iterations": context.max_iterations,
        "hitl_enabled": context.hitl_enabled,
        "model_name": context.model_name,
        "cwd": str(context.project),
        "run_id": context.run_id,
        "total_tokens": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "estimated_cost_usd": 0.0,
        "failed_strategies": [],
        "consecutive_failures": 0,
        "refused": 0,
        "attempts": [],
        "model_failures": 0,
        "idle_turns": 0,
        "progress": fresh_progress(),
        "last_calls": "",
        "approved": False,
        "stop": None,
    }
