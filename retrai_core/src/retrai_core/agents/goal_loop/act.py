"""The act node: runs the tool calls that the model asked for."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from .parts import parts_of
from .progress import turn_digest
from .report_impossible import ReportImpossible
from .state import AgentState, NodeUpdate, ResultNote, Stop


async def act(state: AgentState, config: RunnableConfig) -> NodeUpdate:
    """Run the pending calls: reading ones side by side, the others one by one, all in order."""
    caller, pending = parts_of(config).caller, state["pending_tool_calls"]
    finished = await caller.call_all(str(state["iteration"]), pending)
    update: NodeUpdate = {
        "messages": [done.message() for done in finished],
        "pending_tool_calls": [],
        "tool_results": [ResultNote(id=d.id, name=d.name, ok=d.ok) for d in finished],
        "last_calls": turn_digest(
            (call["name"], call["args"], done.content)
            for call, done in zip(pending, finished, strict=True)
        ),
        "attempts": [f"{done.name} {done.summary}".strip() for done in finished],
    }
    for done in finished:
        if done.name == ReportImpossible.name and done.ok:
            reason = f"the model reports that the goal cannot be met: {done.summary}"
            update["stop"] = Stop(outcome="failed", reason=reason)
    return update
