"""The tool gates together: one deny refuses, else one ask asks, else the call is allowed."""

from __future__ import annotations

from functools import partial

from ..contracts.context import RunContext
from ..contracts.hooks import GateDecision, ToolCall
from ..plugins.daemon_call import aside
from ..plugins.hooks import HookCaller
from ..plugins.record import PluginRecord

ALLOW = GateDecision("allow")
ANSWER_LIMIT_S = 60.0
"""Seconds that a hook has for its answer; a gate may have to ask a server for the rules."""
_VERDICTS = ("allow", "ask", "deny")


class ToolGates:
    """Asks every gate plugin about a call. A gate that raises or returns an invalid answer denies.

    Args:
        hooks: the run's hook plugins.
        context: the run.
        limit_s: seconds that a gate has for its answer; one without an answer denies.
    """

    def __init__(
        self, hooks: HookCaller, context: RunContext, *, limit_s: float = ANSWER_LIMIT_S
    ) -> None:
        self._hooks = hooks
        self._context = context
        self._limit_s = limit_s

    async def decide(self, call: ToolCall) -> GateDecision:
        """What all gates together say of the call."""
        asked: GateDecision | None = None
        for record in self._hooks.implementers("before_tool"):
            answer = await self._ask(record, call)
            if answer is None:
                continue
            if not isinstance(answer, GateDecision) or answer.verdict not in _VERDICTS:
                return GateDecision("deny", f"the tool gate {record.full_name} failed: {answer!r}")
            if answer.verdict == "deny":
                return answer
            if answer.verdict == "ask" and asked is None:
                asked = answer
        return asked or ALLOW

    async def _ask(self, record: PluginRecord, call: ToolCall) -> object:
        question = partial(
            self._hooks.call_one, record, "before_tool", call=call, context=self._context
        )
        try:
            return await aside(question, self._limit_s)
        except TimeoutError as error:
            return error
