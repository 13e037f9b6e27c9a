"""The hand-over of a run that ends without success: what whoever goes on should know."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.goal_loop.prompt import HAND_OVER, LAST_ITERATION
from ..contracts.goal import GoalResult
from ..contracts.record import HandOver, RunRecord

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

MAX_CHARS = 4000
_MOST = 10
_LONGEST_LINE = 300
_PLACE = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-][\w.-]*\.\w+)(?::(\d+))?")
_BAD = frozenset({"failed", "error", "xpassed"})


def write_hand_over(
    record: RunRecord,
    last: GoalResult | None,
    tried: Sequence[str],
    messages: Sequence[AnyMessage],
    redact: Callable[[str], str],
) -> HandOver:
    """The model's own words where it left some in its last iteration, else the facts.

    Args:
        record: of the run, with the files that it changed.
        last: what the last check said; None where none was made since the run was resumed.
        tried: what was tried lately, each with what the check said to it.
        messages: the conversation of the goal loop.
        redact: removes secrets.
    """
    words = _words_of_model(messages)
    if words:
        return HandOver(by="model", text=redact(words)[:MAX_CHARS])
    return HandOver(by="rule", text=redact(_by_rule(record, last, tried, redact))[:MAX_CHARS])


def _words_of_model(messages: Sequence[AnyMessage]) -> str:
    """What the model said after it was told that it has one iteration left; often nothing.

    Words beside tool calls count only behind the line that was asked for: others are about the
    calls.
    """
    asked = [
        number
        for number, message in enumerate(messages)
        if message.type == "human" and LAST_ITERATION in message.text
    ]
    later = dropwhile(_is_from_human, messages[asked[-1] :]) if asked else ()
    # What follows the next message to the model was said for something else.
    answers = [m for m in takewhile(lambda m: not _is_from_human(m), later) if m.type == "ai"]
    for answer in reversed(answers):
        before, mark, after = answer.text.partition(HAND_OVER)
        words = after if mark else "" if answer.tool_calls else before
        if words.strip(" \n*#`"):
            return words.strip(" \n*#`")
    return ""


def _is_from_human(message: AnyMessage) -> bool:
    return message.type == "human"


def _by_rule(
    record: RunRecord,
    last: GoalResult | None,
    tried: Sequence[str],
    redact: Callable[[str], str],
) -> str:
    cases = last.cases.items() if last is not None else ()
    bad = [case for case, outcome in cases if outcome in _BAD]
    reason = record.evidence.after.reason if record.evidence.after else ""
    places = _places(record.project, last.details if last is not None else "")
    look_at = [*places, *(f"{path} (changed)" for path in record.changed_files)]
    parts = [
        ("Tried", list(tried) or ["nothing that changed the project"]),
        ("Still fails", [reason, *_first(bad)] if reason else _first(bad)),
        ("Where to look", _first(look_at)),
    ]
    told: list[str] = []
    for title, lines in parts:
        if lines:
            told += [
                f"{title}:",
                *(f"- {redact(' '.join(line.split()))[:_LONGEST_LINE]}" for line in lines),
            ]
    return "\n".join(told)


def _first(lines: Sequence[str]) -> list[str]:
    left = len(lines) - _MOST
    return [*lines[:_MOST], *([f"and {left} more"] if left > 0 else [])]


def _places(project: Path, details: str) -> list[str]:
    """Files of the project that the check names, the first place in each."""
    found: dict[str, str] = {}
    for match in _PLACE.finditer(details[:100_000]):
        path = match[1]
        if path not in found and ".." not in path.split("/") and (project / path).is_file():
            found[path] = match[0]
            if len(found) == _MOST:
                break
    return list(found.values())
