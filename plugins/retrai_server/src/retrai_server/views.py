"""Records of runs as the API shows them. The field names are those of the original server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from retrai_core import RunRecord, UnreadableRun

from .projects import Projects

_HIDDEN = "***"
_SECRET = re.compile(r"key|token|secret|passw|credential|authorization|cookie", re.IGNORECASE)
_ALL_SECRET = re.compile(r"headers|env|secret")
"""Every value below these is hidden."""
_PASSWORD = re.compile(r"(\w://[^/\s:@]*:)[^/\s@]+@")
_TASK_CHARS = 500


def summary(record: RunRecord) -> dict[str, Any]:
    """What a list shows of a run."""
    return {
        "run_id": record.id,
        "goal": record.goal or None,
        "status": record.status,
        "agent": record.agent,
        "model_name": record.model,
        "max_iterations": record.limits.max_iterations,
        "hitl_enabled": bool(record.config.get("hitl_enabled", False)),
        "cwd": str(record.project),
        "project": str(Projects.id_of(record.project)),
        "task": record.task or _first_text(record.input),
        "labels": record.labels,
        "iteration": record.iterations,
        "total_tokens": record.tokens.total,
        "estimated_cost_usd": record.cost_usd,
        "created_at": _time(record.created_at),
        "started_at": _time(record.started_at),
        "ended_at": _time(record.ended_at),
        "resumable": record.resumable and not _never_began(record),
        "reason": record.reason,
        "error": record.reason if record.status == "error" else None,
    }


def _never_began(record: RunRecord) -> bool:
    """Nothing of such a run is left to go on with."""
    return record.status == "error" and record.started_at is None


def unreadable(run: UnreadableRun) -> dict[str, Any]:
    """A run whose record cannot be read."""
    return {
        "run_id": run.id,
        "status": "unreadable",
        "created_at": _time(run.changed_at),
        "error": run.problem,
    }


def whole(record: RunRecord) -> dict[str, Any]:
    """Everything about a run."""
    dumped = record.model_dump(mode="json")
    return {
        **summary(record),
        "final_state": _final_state(record),
        "record": {**dumped, "config": without_secrets(dumped["config"])},
    }


def without_secrets(value: Any, name: str = "") -> Any:
    """JSON with `***` in the place of secrets: a name says so, or it is an address's password."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        hides = _ALL_SECRET.fullmatch(name)
        return {
            key: without_secrets(each, "secret" if hides else key) for key, each in entries.items()
        }
    if isinstance(value, list):
        return [without_secrets(each, name) for each in cast("list[Any]", value)]
    if not isinstance(value, str) or not value:
        return value
    return _HIDDEN if _SECRET.search(name) else _PASSWORD.sub(rf"\1{_HIDDEN}@", value)


def _time(seconds: float | None) -> str | None:
    """A time as the original server writes it."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _first_text(given: Mapping[str, Any]) -> str:
    """What an agent without a task was asked: the first text of its input."""
    text = next((value for value in given.values() if isinstance(value, str)), "")
    return text if len(text) <= _TASK_CHARS else f"{text[: _TASK_CHARS - 1]}…"


def _final_state(record: RunRecord) -> dict[str, Any] | None:
    """How it stood at the end; None before there is one."""
    if record.ended_at is None or record.status in ("pending", "running", "waiting"):
        return None
    after = record.goals[0].after if record.goals else None
    return {
        "iteration": record.iterations,
        "goal_achieved": record.status == "achieved",
        "goal_reason": after.reason if after else record.reason,
        "total_tokens": record.tokens.total,
        "estimated_cost_usd": record.cost_usd,
    }
