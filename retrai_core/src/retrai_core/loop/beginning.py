"""The state that a run begins with, and how a resumed one goes on from its last checkpoint."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from ..contracts.agent import Agent
from ..contracts.context import RunContext
from ..contracts.goal import GoalResult
from ..workspace.key_files import project_outline
from . import prompt
from .ending import sound_state
from .progress import fresh_progress
from .state import AgentState


def fresh_state(
    context: RunContext, goal: str, baseline: GoalResult, context_tokens: int
) -> AgentState:
    """The state before the first turn: goal, task, baseline and the project's key files.

    Args:
        context: the run.
        goal: its goal's name.
        baseline: what the check says of the project as it stands.
        context_tokens: how much of the project's tree and key files is shown.
    """
    words = context.redact(prompt.opening(goal, context.task, baseline))
    messages: list[AnyMessage] = [HumanMessage(words, id="goal")]
    if context_tokens:
        listing, shown = project_outline(context.workspace, context_tokens)
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


async def take_up(graph: Any, config: dict[str, Any], context: RunContext, agent: Agent) -> bool:
    """Make ready to go on from the last checkpoint; False when there is none.

    Args:
        graph: the compiled graph; its annotations are only partly known.
        config: the graph's configuration, with the thread's id.
        context: the run, with the limits that hold from now on.
        agent: whose graph it is.

    Raises:
        WrongAnswerError: what the agent's graph has kept is no state of a run.
    """
    known = await graph.aget_state(config)
    if not known.values:
        return False
    context.iteration = sound_state(known.values, agent)["iteration"]
    if not known.next and known.values["goal_achieved"]:
        # Killed before its record could say so: look again, so that the record has the evidence.
        context.iteration -= 1
        again = {"iteration": context.iteration, "goal_achieved": False}
        await graph.aupdate_state(config, again, as_node=_node(graph, "act"))
        return True
    if not known.tasks or known.values.get("stop"):
        # It had ended: go on as if its last evaluation had just been made. A step whose writes are
        # kept and whose checkpoint is not is a task still, although nothing is named as next.
        update = {"max_iterations": context.max_iterations, "stop": None}
        update |= {"model_failures": 0, "idle_turns": 0, "progress": fresh_progress()}
        await graph.aupdate_state(config, update, as_node=_node(graph, "evaluate"))
    return True


def _node(graph: Any, name: str) -> str:
    """The node after which the run goes on; a graph that has none of that name begins again."""
    return name if name in graph.nodes else "__start__"
