"""The act node: runs the tool calls that the model asked for."""

from __future__ import annotations

import asyncio
from itertools import groupby

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from .parts import parts_of
from .progress import turn_digest
from .report_impossible import ReportImpossible
from .state import AgentState, PendingCall, ResultNote, StateUpdate, Stop
from .tool_call import Finished, ToolCaller
from .tool_names import wire_name

_SIDE_BY_SIDE = frozenset({"read", "network"})


async def act(state: AgentState, config: RunnableConfig) -> StateUpdate:
    """Run the pending calls: reading ones side by side, the others one by one, all in order."""
    parts = parts_of(config)
    parts.context.publish("step_start", node="act", iteration=parts.context.iteration)
    caller = ToolCaller(parts, state["iteration"])
    tools = parts.context.tools

    def reads_only(numbered: tuple[int, PendingCall]) -> bool:
        tool = tools.get(numbered[1]["name"])
        return tool is not None and tool.needs <= _SIDE_BY_SIDE

    finished: list[Finished] = []
    for together, calls in groupby(enumerate(state["pending_tool_calls"]), key=reads_only):
        if together:
            finished += await asyncio.gather(*(caller.call(index, call) for index, call in calls))
        else:
            parts.verifier.expect_changes()
            for index, call in calls:
                finished.append(await caller.call(index, call))
    update: StateUpdate = {
        "messages": [_message(done) for done in finished],
        "pending_tool_calls": [],
        "tool_results": [ResultNote(id=d.id, name=d.name, ok=d.ok) for d in finished],
        "last_calls": turn_digest(
            (call["name"], call["args"], done.content)
            for call, done in zip(state["pending_tool_calls"], finished, strict=True)
        ),
        "attempts": [f"{done.name} {done.summary}".strip() for done in finished],
    }
    for done in finished:
        if done.name == ReportImpossible.name and done.ok:
            reason = f"the model reports that the goal cannot be met: {done.summary}"
            update["stop"] = Stop(outcome="failed", reason=reason)
    return update


def _message(done: Finished) -> AnyMessage:
    status = "success" if done.ok else "error"
    return ToolMessage(done.content, tool_call_id=done.id, name=wire_name(done.name), status=status)
