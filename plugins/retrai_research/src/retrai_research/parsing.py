"""Reads what the planner and the refinery answer: JSON, perhaps with other words around it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, cast

MAX_STEPS = 10
"""Of a plan; more are left out."""
_TRIES = 20
_STEP_KEYS = ("description", "step", "task", "title")

Decision = Literal["CONTINUE", "FINISH"]


def parse_plan(text: str) -> list[str] | None:
    """The steps of a plan, or None where the answer has no JSON array of steps.

    Example:
        >>> parse_plan('Here it is: ["Find it", {"step": "Read it"}]')
        ['Find it', 'Read it']
        >>> parse_plan("I would look at the schema [1].") is None
        True
    """
    plan: list[str] | None = None
    for value in _values(text, "["):
        items = cast("list[Any]", value)
        steps = [_step(item) for item in items]
        if all(step is not None for step in steps):
            plan = [step for step in steps if step][:MAX_STEPS]
            if plan:
                break
    return plan


def parse_decision(text: str) -> tuple[Decision, str] | None:
    """The decision and its reason, or None where there is none.

    Example:
        >>> parse_decision('{"decision": "finish", "reason": "all is found"}')
        ('FINISH', 'all is found')
    """
    for value in _values(text, "{"):
        given = cast("dict[str, Any]", value)
        decision = str(given.get("decision", "")).strip().upper()
        if decision in ("CONTINUE", "FINISH"):
            return decision, str(given.get("reason", ""))
    return None


def _step(item: object) -> str | None:
    if isinstance(item, str):
        return " ".join(item.split())
    if isinstance(item, dict):
        values = cast("dict[str, Any]", item)
        found = next((values[key] for key in _STEP_KEYS if isinstance(values.get(key), str)), None)
        return None if found is None else " ".join(found.split())
    return None


def _values(text: str, opening: str) -> Iterator[object]:
    """The JSON values that begin with this bracket, from the left."""
    decoder, at = json.JSONDecoder(), -1
    for _ in range(_TRIES):
        at = text.find(opening, at + 1)
        if at < 0:
            return
        try:
            value, _end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield value
