"""Reads the figure that a training script reports itself."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import cast

from retrai_goal_support import text_of

from .analysis.tables import as_number

MAX_CHARS = 1_000_000


def reported(metrics_file: Path, stdout: str, name: str) -> float | str:
    """The metric's value, or why there is none.

    Args:
        metrics_file: where the script may have written a JSON object; it comes first.
        stdout: what the script printed; the last line that names the metric counts, as a JSON
            object, as `name=value` or as `name: value`.
        name: the metric's name.

    Example:
        >>> reported(Path("/nonexistent"), "epoch 3\\naccuracy: 0.91\\n", "accuracy")
        0.91
    """
    text = text_of(metrics_file, MAX_CHARS)
    if text.strip():
        found = _in_json(text, name)
        return found if found is not None else f"RETRAI_METRICS has no number called {name}"
    number = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
    pattern = re.compile(
        rf"(?<![\w.]){re.escape(name)}[\"']?\s*[:=]\s*({number})(?![\w.])", re.IGNORECASE
    )
    for line in reversed(stdout.splitlines()):
        found = _in_json(line, name) if line.lstrip().startswith("{") else None
        if found is not None:
            return found
        match = pattern.search(line)
        value = as_number(match[1]) if match else None
        if value is not None:
            return value
    return (
        f"the script did not report {name}: print `{name}=0.9` or a JSON object on a line, or "
        "write one to the file that the environment variable RETRAI_METRICS names"
    )


def _in_json(text: str, name: str) -> float | None:
    try:
        parsed: object = json.loads(text)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    value = cast("dict[str, object]", parsed).get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None
