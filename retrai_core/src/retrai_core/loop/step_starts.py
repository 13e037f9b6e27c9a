"""Tells that a node begins, once, also where its model's answer came before it."""

from __future__ import annotations

from ..contracts.context import RunContext


class StepStarts:
    """Publishes `step_start` for the nodes of one run.

    Args:
        context: the run.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._current = ""
        self._early: set[str] = set()

    def begin(self, node: str) -> None:
        """The node begins now."""
        self._current = node
        if node in self._early:
            self._early.discard(node)
        else:
            self._publish(node)

    def begin_early(self, node: str) -> None:
        """Something of the node is told before the graph has come to it."""
        if node != self._current and node not in self._early:
            self._early.add(node)
            self._publish(node)

    def _publish(self, node: str) -> None:
        self._context.publish("step_start", node=node, iteration=self._context.iteration)
