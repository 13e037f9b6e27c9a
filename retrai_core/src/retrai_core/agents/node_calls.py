"""The tool calls of an agent's own nodes: `RunContext.call_tools`."""

from __future__ import annotations

import re
from collections import Counter

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from ..contracts.context import RunContext
from .messages import calls_of
from .tool_call import ToolCaller

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")


class NodeCalls:
    """Makes the calls of the nodes of one run, each under a key that stays the same if the node
    runs again.

    Args:
        context: the run, with its tools.
        caller: makes the calls.
    """

    def __init__(self, context: RunContext, caller: ToolCaller) -> None:
        self._context = context
        self._caller = caller
        self._made: Counter[tuple[str, int]] = Counter()

    async def __call__(self, message: AIMessage) -> list[ToolMessage]:
        """The results, in the order of the calls.

        Raises:
            RuntimeError: it is no node of a graph that asks.
        """
        calls = calls_of(message, self._context.tools)
        finished = await self._caller.call_all(self._visit(), calls)
        return [done.message() for done in finished]

    def _visit(self) -> str:
        """Which node, at which step, and the how manieth answer of this visit."""
        # The task's id follows from the checkpoint that the node starts from.
        place: str = get_config().get("metadata", {})["langgraph_checkpoint_ns"]
        info = get_runtime().execution_info
        attempt = (place, info.node_attempt if info is not None else 1)
        number = self._made[attempt]
        self._made[attempt] += 1
        node, _, task = place.rpartition(":")
        return f"{_FOREIGN.sub('-', node)}/{_FOREIGN.sub('-', task)[:13]}/{number}"
