"""What `retrai watch` prints: one line for each check and each run."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from retrai_core import RunRecord, echo, visible

_NAMES = 3
"""So many files or cases a line names; of more it says how many."""
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Checked:
    """The result of one check.

    Attributes:
        goal: its name.
        changed: the files whose change led to it; empty for the first.
        achieved: it passes.
        reason: what it found.
        counts: cases by outcome.
        broke: the cases that passed before and do not now.
        fixed: the cases that did not pass before and do now.
    """

    goal: str
    changed: Sequence[str]
    achieved: bool
    reason: str
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    broke: Sequence[str] = ()
    fixed: Sequence[str] = ()


NoteKind = Literal["watching", "note", "not_checked", "not_run", "run_started"]


class Lines(Protocol):
    """Where results go."""

    def checked(self, check: Checked) -> None:
        """A check."""

    def ended(self, record: RunRecord) -> None:
        """A run that has ended."""

    def note(self, kind: NoteKind, text: str) -> None:
        """Anything else that a person should know."""


class TextLines:
    """Lines for people, each with the time."""

    def checked(self, check: Checked) -> None:
        """What changed, what passes now, what broke."""
        changed = f"{_some(check.changed)}: " if check.changed else ""
        verdict = "passes" if check.achieved else "fails"
        text = f"{changed}{check.goal} {verdict}: {_line(check.reason)}"
        counts = ", ".join(f"{number} {name}" for name, number in sorted(check.counts.items()))
        text += f" ({counts})" if counts else ""
        text += f"; broke: {_some(check.broke)}" if check.broke else ""
        text += f"; fixed: {_some(check.fixed)}" if check.fixed else ""
        _print(text)

    def ended(self, record: RunRecord) -> None:
        """How it ended, and what it changed."""
        changed = f"; changed {_some(record.changed_files)}" if record.changed_files else ""
        _print(f"run {record.id} {record.status}: {_line(record.reason)}{changed}")

    def note(self, kind: NoteKind, text: str) -> None:
        """One line."""
        _print(_line(text))


class JsonLines:
    """A JSON object for each check and run."""

    def checked(self, check: Checked) -> None:
        """`{"kind": "check", ...}`."""
        _print_json("check", asdict(check))

    def ended(self, record: RunRecord) -> None:
        """`{"kind": "run", "run": ...}`."""
        _print_json("run", {"run": record.model_dump(mode="json")})

    def note(self, kind: NoteKind, text: str) -> None:
        """`{"kind": ..., "message": ...}`."""
        _print_json(kind, {"message": text})


def shown_path(project: Path) -> str:
    """A folder's name in a line."""
    return visible(str(project), keep="")


def _print(text: str) -> None:
    echo(f"{time.strftime('%H:%M:%S')}  {visible(text, keep='')}")


def _print_json(kind: str, values: Mapping[str, object]) -> None:
    echo(json.dumps({"kind": kind, "ts": time.time(), **values}, default=list))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}..."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more
