"""Objects in JSON that anybody may have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


def read_object(text: str | bytes) -> Mapping[str, Any] | None:
    """The object that a text is; None where it is no JSON, or something else."""
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", data) if isinstance(data, dict) else None


def as_object(value: object) -> Mapping[str, Any]:
    """A value that should be an object; an empty one where it is something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
