"""Says in a sentence what a successful run did, so that the same thing reads the same."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from retrai_core import RunOutcome
from retrai_goal_support import insight_lines, prompt_line, what_worked

MAX_FAILURE_CHARS = 300
MAX_NOTE_CHARS = 240
MAX_WORDS = 40

_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one achieved run teaches.

    Attributes:
        goal: the goal's name.
        project: the project's absolute path, as text that SQLite can hold.
        failure: what was wrong at first, on one line.
        pattern: what made the check pass.
        note: what the model said last.
    """

    goal: str
    project: str
    failure: str
    pattern: str
    note: str


def lesson_of(outcome: RunOutcome) -> Lesson | None:
    """The lesson of an achieved run; None when it changed nothing, so nothing was tried.

    Example:
        >>> outcome = RunOutcome("pytest", Path("/p"), "achieved", "2 tests fail", ["cart.py"])
        >>> lesson_of(outcome).pattern
        'a change to cart.py made the check pass'
    """
    pattern = what_worked(outcome)
    if not pattern:
        return None
    return Lesson(
        goal=prompt_line(outcome.goal),
        project=project_text(outcome.project),
        failure=prompt_line(outcome.failure, MAX_FAILURE_CHARS) or "the check fails",
        pattern=pattern,
        note=prompt_line(outcome.notes, MAX_NOTE_CHARS),
    )


def lessons_of_insights(outcome: RunOutcome) -> list[Lesson]:
    """What the model says that the run teaches, each as a lesson."""
    failure = prompt_line(outcome.failure, MAX_FAILURE_CHARS) or "the check fails"
    return [
        Lesson(prompt_line(outcome.goal), project_text(outcome.project), failure, text, "")
        for text in insight_lines(outcome)
    ]


def project_text(project: Path) -> str:
    """The project's path; bytes that are no UTF-8 become question marks."""
    return os.fsencode(project).decode("utf-8", "replace")


def words_of(text: str) -> list[str]:
    """The different words of a text, as they are looked up; counts and paths' numbers say nothing.

    Example:
        >>> words_of("2 of 20 tests fail: KeyError in cart_test")
        ['tests', 'fail', 'keyerror', 'cart', 'test']
    """
    found = (match[0].casefold() for match in _WORD.finditer(text))
    return list(dict.fromkeys(found))[:MAX_WORDS]
