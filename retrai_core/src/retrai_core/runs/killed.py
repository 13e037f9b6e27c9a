"""What a run that was killed had begun to do."""

from __future__ import annotations

from collections.abc import Iterable

from ..events import AgentEvent


def calls_without_snapshot(events: Iterable[AgentEvent]) -> list[str]:
    """The calls of a run that was killed (or still works) since its last snapshot, in short."""
    calls: list[str] = []
    for event in events:
        if event.kind in ("iteration_complete", "run_end"):
            calls = []
        elif event.kind == "tool_call":
            calls.append(f"{event.payload['tool']} {event.payload.get('summary', '')}".rstrip())
    return calls
