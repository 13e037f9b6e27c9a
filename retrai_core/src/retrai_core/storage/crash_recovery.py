"""Recovers a run from its log after it was killed before its record was saved."""

from __future__ import annotations

from collections.abc import Iterable

from ..contracts.record import EXIT_CODES, RunRecord
from ..events import AgentEvent
from .event_log import usage_of

KILLED = "its process was killed"
"""Why a run was interrupted, where nobody knows more."""


def interrupted(record: RunRecord, events: Iterable[AgentEvent], reason: str = KILLED) -> RunRecord:
    """The record of a run whose holder is dead.

    Args:
        record: as it was saved when the run's last part began, or a little later.
        events: the run's.
        reason: why it ended, in one line.
    """
    found = record.model_copy(deep=True)
    found.status, found.reason = "interrupted", reason
    found.exit_code = EXIT_CODES["interrupted"]
    found.next_step = f"retrai runs resume {record.id}"
    return _completed(found, events)


def _completed(record: RunRecord, events: Iterable[AgentEvent]) -> RunRecord:
    """The record with how far the run came: iterations, time, tokens, the last check.

    Where there are no events, or one of a plugin's says what retrai's do not, it stays as it is.
    """
    found = record.model_copy(deep=True)
    try:
        _complete(found, list(events))
    except (OSError, KeyError, TypeError, ValueError):
        return record
    return found


def _complete(record: RunRecord, events: list[AgentEvent]) -> None:
    began = record.part_started_at or record.started_at or 0.0
    part = [event for event in events if event.ts >= began]
    if not part:
        return
    counted = [event.iteration for event in events if event.kind == "iteration_complete"]
    record.iterations = max([record.iterations, *counted])
    record.ended_at = part[-1].ts
    record.worked_s += record.ended_at - began
    record.refused += [line for event in part for line in event.payload.get("refused", [])]
    record.tokens, record.cost_usd = usage_of(events)
    checks = [event.payload for event in part if event.kind == "goal_check"]
    goal = record.goals[0] if record.goals else None
    if goal and goal.before and checks and checks[-1].get("phase") != "baseline":
        seen = {name: checks[-1][name] for name in ("achieved", "reason", "counts")}
        goal.after = goal.before.model_copy(update=seen)


def calls_without_snapshot(events: Iterable[AgentEvent]) -> list[str]:
    """The calls of a run that was killed (or still works) since its last snapshot, in short."""
    calls: list[str] = []
    for event in events:
        if event.kind in ("iteration_complete", "run_end"):
            calls = []
        elif event.kind == "tool_call":
            calls.append(f"{event.payload['tool']} {event.payload.get('summary', '')}".rstrip())
    return calls
