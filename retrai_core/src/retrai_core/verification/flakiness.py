"""Detects a flaky check: different results on the same tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from ..contracts.goal import GoalResult
from ..storage.lines import append_once, read_lines

SHOWN = 10
"""How many flaky cases are named."""

_FAILED = frozenset({"failed", "error"})


@dataclass(frozen=True, slots=True)
class Flaky:
    """A check with two results on one tree: the cases that differ, and how it was detected."""

    cases: Sequence[str]
    how: str

    @property
    def reason(self) -> str:
        """One line for people."""
        if not self.cases:
            return f"the check passes and fails on the same tree: {self.how}"
        count = len(self.cases)
        what = "1 case passes and fails" if count == 1 else f"{count} cases pass and fail"
        return f"{what} on the same tree ({self.how}): {', '.join(self.cases[:SHOWN])}"


def differ(first: GoalResult, second: GoalResult, how: str) -> Flaky | None:
    """Why two answers on the same tree do not agree; None where they do."""
    one, other = first.cases, second.cases
    cases = [
        case
        for case in one.keys() & other.keys()
        if "passed" in (pair := (one[case], other[case])) and not _FAILED.isdisjoint(pair)
    ]
    if cases or first.achieved != second.achieved:
        failing = second if first.achieved else first
        return Flaky(sorted(cases or failing.failing), how)
    return None


class _Known(BaseModel):
    """The first result on a tree."""

    tree: str
    achieved: bool
    failing: list[str]


class Verdicts:
    """The results of the check for each tree of the run, in place and on copies, also before a
    resume.

    Args:
        path: `verdicts.jsonl` in the run's folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, _Known] = {}
        for line in read_lines(path)[0]:
            with suppress(ValueError):  # a line that a kill left half written
                known = _Known.model_validate(json.loads(line))
                self._known[known.tree] = known

    def note(self, tree: str, result: GoalResult) -> None:
        """Remember an answer on the tree with this hash."""
        if tree in self._known:
            return
        failing = sorted(result.failing)[:SHOWN]
        known = _Known(tree=tree, achieved=result.achieved, failing=failing)
        self._known[tree] = known
        append_once(self._path, json.dumps(known.model_dump()))

    def against(self, tree: str, result: GoalResult) -> Flaky | None:
        """Why the answer contradicts what was said of this tree before; None where it does not."""
        known = self._known.get(tree)
        if known is None or known.achieved == result.achieved:
            return None
        failing = sorted(result.failing)[:SHOWN] if known.achieved else known.failing
        return Flaky(failing, "in an earlier check of this run and now")
