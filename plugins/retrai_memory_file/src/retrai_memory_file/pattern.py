"""Says in a sentence what a successful run did, so that the same thing reads the same."""

from __future__ import annotations

import re

from retrai_core import RunOutcome
from retrai_goal_support import insight_lines, prompt_line, what_worked

from .document import Entry

MAX_FAILURE_CHARS = 160
MAX_NOTE_CHARS = 240


def learned_from(outcome: RunOutcome) -> Entry | None:
    """The strategy of an achieved run; None when it changed nothing, so nothing was tried.

    Example:
        >>> from pathlib import Path
        >>> failure, files, tools = "2 of 20 tests fail", ["src/cart.py"], ["file_patch"]
        >>> outcome = RunOutcome("pytest", Path("."), "achieved", failure, files, tools)
        >>> learned_from(outcome).pattern
        'When some tests fail: a change to src/cart.py made the check pass (tools: file_patch).'
    """
    worked = what_worked(outcome)
    if not worked:
        return None
    return Entry(
        goal=outcome.goal,
        pattern=f"When {failure_kind(outcome.failure)}: {worked}.",
        note=prompt_line(outcome.notes, MAX_NOTE_CHARS),
    )


def entries_of_insights(outcome: RunOutcome) -> list[Entry]:
    """What the model says that the run teaches, as strategies."""
    return [Entry(goal=outcome.goal, pattern=text) for text in insight_lines(outcome)]


def failure_kind(failure: str) -> str:
    """The failure's first line without its counts, which differ from run to run."""
    lines = failure.strip().splitlines()
    kind = prompt_line(lines[0]) if lines else ""
    kind = re.sub(r"\b\d+ of (?:the )?\d+\b|^\d+\b", "some", kind)
    # One failing test reads otherwise than two, and is the same kind of failure.
    kind = re.sub(r"\bsome (\w+?)s? fails?\b", r"some \1s fail", kind)
    kind = re.sub(r"(?<![\w.:/-])\d+(?![\w.:/-])", "N", kind)
    return prompt_line(kind.rstrip(".:"), MAX_FAILURE_CHARS) or "the check fails"
