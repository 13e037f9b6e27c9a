"""Says in a sentence what a successful run did, so that the same thing reads the same."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import RunOutcome

MAX_FAILURE_CHARS = 300
MAX_NOTE_CHARS = 240
MAX_FILES = 4
MAX_TOOLS = 6
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
    if not outcome.changed_files:
        return None
    tools = ", ".join(outcome.tools_used[:MAX_TOOLS])
    by_tools = f" (tools: {tools})" if tools else ""
    return Lesson(
        goal=one_line(outcome.goal),
        project=project_text(outcome.project),
        failure=shorten(one_line(outcome.failure), MAX_FAILURE_CHARS) or "the check fails",
        pattern=f"a change to {named(outcome.changed_files)} made the check pass{by_tools}",
        note=shorten(one_line(outcome.notes), MAX_NOTE_CHARS),
    )


def project_text(project: Path) -> str:
    """The project's path; bytes that are no UTF-8 become question marks."""
    return os.fsencode(project).decode("utf-8", "replace")


def named(paths: Sequence[str]) -> str:
    """The first few files, those below a folder first: scratch files mostly lie at the root."""
    ordered = sorted(map(one_line, paths), key=lambda path: ("/" not in path, path))
    more = " and others" if len(ordered) > MAX_FILES else ""
    return ", ".join(ordered[:MAX_FILES]) + more


def words_of(text: str) -> list[str]:
    """The different words of a text, as they are looked up; counts and paths' numbers say nothing.

    Example:
        >>> words_of("2 of 20 tests fail: KeyError in cart_test")
        ['tests', 'fail', 'keyerror', 'cart', 'test']
    """
    found = (match[0].casefold() for match in _WORD.finditer(text))
    return list(dict.fromkeys(found))[:MAX_WORDS]


def one_line(text: str) -> str:
    """Printable characters on one line: this text goes into a prompt."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"
