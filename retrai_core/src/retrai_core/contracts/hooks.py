"""The hooks: functions of plugins that every run calls, instead of selecting one by name.

A plugin is an entry point in `retrai.hooks` that names a module, a class or an object; its methods
are marked with `hookimpl`. A class is built once per run, with its options if it has `Options`.
Hooks are called one plugin at a time, so that one that raises does not silence the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pluggy

from .context import RunContext
from .event_sink import RunInfo
from .goal import GoalBase
from .tool import Tool
from .verdict import Verdict

PROJECT_NAME = "retrai"
hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model: its id, the tool's name, the arguments and the tool's needs."""

    id: str
    name: str
    args: Mapping[str, Any]
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The decision of a gate: allow the call, ask the user, or refuse it with a reason."""

    verdict: Literal["allow", "ask", "deny"]
    reason: str = ""


FORMER_HOOKS = {
    "goals": "",
    "on_event": "an event sink is a plugin of its own now: a class with `on_event` below "
    "`retrai_core.EventSink`, with an entry point in `retrai.sinks`",
}
"""What became of the hooks that there were, by name; empty where a plugin may still have it."""


class HookSpecs:
    """Every hook that retrai calls."""

    @hookspec
    def before_tool(self, call: ToolCall, context: RunContext) -> GateDecision | None:
        """A tool gate: asked before every tool call; None means no opinion.

        One `deny` refuses the call (the model reads the reason), else one `ask` asks the user
        (refused where nobody can answer), else it is allowed. A gate that raises denies.

        Example:
            >>> class NoNetwork:
            ...     @hookimpl
            ...     def before_tool(self, call, context):
            ...         if "network" in call.needs:
            ...             return GateDecision("deny", "this project works offline")
            >>> call = ToolCall("1", "web", {}, frozenset({"network"}))
            >>> NoNetwork().before_tool(call, None).verdict
            'deny'
        """

    @hookspec
    def system_prompt(self, goal: GoalBase, context: RunContext) -> str | None:
        """A prompt part: text added to the system prompt, after the goal's own.

        Example:
            >>> class Politeness:
            ...     @hookimpl
            ...     def system_prompt(self, goal, context):
            ...         return "Write British English in comments."
            >>> Politeness().system_prompt(None, None)
            'Write British English in comments.'
        """

    @hookspec
    def tools(self, context: RunContext) -> Sequence[Tool] | Awaitable[Sequence[Tool]]:
        """Tools that are known only at run time (those of MCP servers, say).

        Asked beside the baseline check, in a thread of its own; an `async def` is awaited on the
        run's event loop, where its tools will run, and is cancelled when the run ends before. A
        `UsageError` ends the run, any other exception costs only this plugin's tools.

        Example:
            >>> class NoTools:
            ...     @hookimpl
            ...     def tools(self, context):
            ...         return []
            >>> NoTools().tools(None)
            []
        """
        return ()

    @hookspec
    def artifacts(self, run: RunInfo, verdict: Verdict) -> Mapping[str, bytes]:
        """Files that the store keeps with a run: a report, a badge, a receipt.

        Called once when a run with a goal ends, whatever its outcome: in the process that works on
        the run, in a thread of its own, after the last check and before `run_end`. `Run.artifact`
        returns them. One that raises, or takes longer than a minute, costs only its own files.

        Args:
            run: which run it is.
            verdict: the last check. Its `evidence` has further layers: see `Verdict`.

        Returns:
            content by name: letters, digits, `.`, `_` and `-`.

        Example:
            >>> class Badge:
            ...     @hookimpl
            ...     def artifacts(self, run, verdict):
            ...         return {"badge.txt": b"green" if verdict.achieved else b"red"}
            >>> Badge().artifacts(None, Verdict(True, "2 passed"))
            {'badge.txt': b'green'}
        """
        return {}
