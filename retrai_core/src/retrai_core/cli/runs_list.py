"""The rows of `retrai runs list`, including runs with a damaged record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..contracts.record import RunRecord
from ..contracts.store import UnreadableRun
from ..errors import UsageError
from .columns import aligned
from .render.words import count, one_line

Run = RunRecord | UnreadableRun

_HEADINGS = ("RUN", "OUTCOME", "GOAL", "MODEL", "ITERATIONS", "STARTED", "PROJECT")
_MODEL_WIDTH = 40
_PROBLEM_WIDTH = 200
_NAME_WIDTH, _PATH_WIDTH = 255, 4096
_UNREADABLE = "unreadable"


def runs_of(runs: Sequence[Run], project: Path) -> Sequence[Run]:
    """Those that are known to be the project's."""
    there = project.resolve()
    return [run for run in runs if isinstance(run, RunRecord) and run.project == there]


def table(runs: Sequence[Run]) -> str:
    """A line for each run, and below them where a record cannot be read."""
    damaged = [
        f"{one_line(run.id, _NAME_WIDTH)}: its record cannot be read: "
        f"{one_line(str(run.path), _PATH_WIDTH)}: {one_line(run.problem, _PROBLEM_WIDTH)}"
        for run in runs
        if isinstance(run, UnreadableRun)
    ]
    return "\n".join([aligned([_HEADINGS, *map(_row, runs)]), *damaged])


def none_in(project: Path | None) -> str:
    """What is said instead of an empty table.

    Raises:
        UsageError: there is no such folder, nor has there been a run in it.
    """
    if project is not None and not project.is_dir():
        raise UsageError(f"no such folder: {project}", hint="give the project's folder with -C DIR")
    where = f" in {project}" if project is not None else ""
    return f"no runs{where} yet; `retrai run` starts one"


def damaged_among(runs: Sequence[Run]) -> str:
    """How many runs nobody knows the project of; empty where there are none."""
    damaged = sum(isinstance(run, UnreadableRun) for run in runs)
    if not damaged:
        return ""
    return f"of {count(damaged, 'run')} the record is damaged: `retrai runs list` shows where"


def as_json(run: Run) -> dict[str, Any]:
    """The record; of one that cannot be read `id`, `status`, `reason` and `path`."""
    if isinstance(run, RunRecord):
        return run.model_dump(mode="json")
    reason = f"its record cannot be read: {run.problem}"
    return {"id": run.id, "status": _UNREADABLE, "reason": reason, "path": str(run.path)}


def _row(run: Run) -> Sequence[str]:
    if isinstance(run, UnreadableRun):
        return (one_line(run.id, _NAME_WIDTH), _UNREADABLE, "-", "-", "-", "-", "-")
    return (
        run.id,
        run.status,
        run.goal or run.agent,
        one_line(run.model, _MODEL_WIDTH),
        str(run.iterations),
        _when(run.started_at),
        one_line(str(run.project), _PATH_WIDTH),
    )


def _when(timestamp: float | None) -> str:
    if timestamp is None:
        return "-"
    try:
        return datetime.fromtimestamp(timestamp, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # not retrai's own figure
        return "?"
