"""What `retrai runs list` shows of each run, also of one whose record is damaged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..runs.record import RunRecord
from ..runs.store import RunStore, UnreadableRun
from .columns import aligned
from .render.words import one_line

Run = RunRecord | UnreadableRun

_HEADINGS = ("RUN", "OUTCOME", "GOAL", "MODEL", "ITERATIONS", "STARTED", "PROJECT")
_MODEL_WIDTH = 40
_PROBLEM_WIDTH = 200
_UNREADABLE = "unreadable"


def runs_of(store: RunStore, project: Path | None) -> Sequence[Run]:
    """The runs, newest first; of a project, those that are known to be its."""
    if project is None:
        return store.entries()
    there = project.resolve()
    return [record for record in store.list() if record.project == there]


def table(runs: Sequence[Run]) -> str:
    """A line for each run, and below them where a record cannot be read."""
    damaged = [
        f"{run.id}: its record cannot be read: {run.path}: {one_line(run.problem, _PROBLEM_WIDTH)}"
        for run in runs
        if isinstance(run, UnreadableRun)
    ]
    return "\n".join([aligned([_HEADINGS, *map(_row, runs)]), *damaged])


def as_json(run: Run) -> dict[str, Any]:
    """The record; of one that cannot be read `id`, `status`, `reason` and `path`."""
    if isinstance(run, RunRecord):
        return run.model_dump(mode="json")
    reason = f"its record cannot be read: {run.problem}"
    return {"id": run.id, "status": _UNREADABLE, "reason": reason, "path": str(run.path)}


def _row(run: Run) -> Sequence[str]:
    if isinstance(run, UnreadableRun):
        return (run.id, _UNREADABLE, "-", "-", "-", "-", "-")
    return (
        run.id,
        run.status,
        run.goal,
        one_line(run.model, _MODEL_WIDTH),
        str(run.iterations),
        _when(run.started_at),
        str(run.project),
    )


def _when(timestamp: float | None) -> str:
    if timestamp is None:
        return "-"
    try:
        return datetime.fromtimestamp(timestamp, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # not retrai's own figure
        return "?"
