"""The tool gates together: one deny refuses, else one ask asks, else the call is allowed."""

from __future__ import annotations

import asyncio

from .contracts.context import RunContext
from .contracts.hooks import GateDecision, ToolCall
from .plugins.hooks import HookCaller
from .plugins.record import PluginRecord

ALLOW = GateDecision("allow")
_VERDICTS = ("allow", "ask", "deny")


class ToolGates:
    """Asks every gate plugin about a call. A gate that raises or answers nonsense denies.

    Args:
        hooks: the run's hook plugins.
        context: the run.
    """

    def __init__(self, hooks: HookCaller, context: RunContext) -> None:
        self._hooks = hooks
        self._context = context

    async def decide(self, call: ToolCall) -> GateDecision:
        """What all gates together say of the call."""
        asked: GateDecision | None = None
        for record in self._hooks.implementers("before_tool"):
            answer = await asyncio.to_thread(self._ask, record, call)
            if answer is None:
                continue
            if not isinstance(answer, GateDecision) or answer.verdict not in _VERDICTS:
                return GateDecision("deny", f"the tool gate {record.full_name} failed: {answer!r}")
            if answer.verdict == "deny":
                return answer
            if answer.verdict == "ask" and asked is None:
                asked = answer
        return asked or ALLOW

    def _ask(self, record: PluginRecord, call: ToolCall) -> object:
        try:
            return self._hooks.call_one(record, "before_tool", call=call, context=self._context)
        except SystemExit as error:  # not an Exception, and would end the whole process
            return error
