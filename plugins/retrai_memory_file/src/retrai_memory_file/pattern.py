"""Says in a sentence what a successful run did, so that the same thing reads the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrai_core import RunOutcome

from .document import Entry

MAX_FAILURE_CHARS = 160
MAX_NOTE_CHARS = 240
MAX_FILES = 4
MAX_TOOLS = 6


def learned_from(outcome: RunOutcome) -> Entry | None:
    """The strategy of an achieved run; None when it changed nothing, so nothing was tried.

    Example:
        >>> from pathlib import Path
        >>> failure, files, tools = "2 of 20 tests fail", ["src/cart.py"], ["file_patch"]
        >>> outcome = RunOutcome("pytest", Path("."), "achieved", failure, files, tools)
        >>> learned_from(outcome).pattern
        'When some tests fail: a change to src/cart.py made the check pass (tools: file_patch).'
    """
    if not outcome.changed_files:
        return None
    tools = ", ".join(outcome.tools_used[:MAX_TOOLS])
    by_tools = f" (tools: {tools})" if tools else ""
    return Entry(
        goal=outcome.goal,
        pattern=(
            f"When {failure_kind(outcome.failure)}: a change to "
            f"{named_files(outcome.changed_files)} made the check pass{by_tools}."
        ),
        note=shorten(one_line(outcome.notes), MAX_NOTE_CHARS),
    )


def failure_kind(failure: str) -> str:
    """The failure's first line without its counts, which differ from run to run."""
    lines = failure.strip().splitlines()
    kind = one_line(lines[0]) if lines else ""
    kind = re.sub(r"\b\d+ of (?:the )?\d+\b|^\d+\b", "some", kind)
    # One failing test reads otherwise than two, and is the same kind of failure.
    kind = re.sub(r"\bsome (\w+?)s? fails?\b", r"some \1s fail", kind)
    kind = re.sub(r"(?<![\w.:/-])\d+(?![\w.:/-])", "N", kind)
    return shorten(kind.rstrip(".:"), MAX_FAILURE_CHARS) or "the check fails"


def named_files(paths: Sequence[str]) -> str:
    """The first few files, and whether there are more.

    Packaging's own files say nothing, and those at the project's root come last: scratch files lie
    there, while sources mostly lie deeper.
    """
    telling = [path for path in paths if ".egg-info/" not in path] or paths
    names = [one_line(path) for path in sorted(telling, key=lambda path: ("/" not in path, path))]
    more = " and others" if len(names) > MAX_FILES else ""
    return ", ".join(names[:MAX_FILES]) + more


def one_line(text: str) -> str:
    """Printable characters on one line: this text goes into a prompt."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"
