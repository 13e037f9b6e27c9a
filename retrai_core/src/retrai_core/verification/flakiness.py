"""Detects a flaky check: different results on the same tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..contracts.goal import GoalResult

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


class Verdicts:
    """The results of the check for each tree of the run, in place and on copies, also before a
    resume.

    Args:
        path: `verdicts.jsonl` in the run's folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, tuple[bool, list[str]]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
                self._take(line)

    def note(self, tree: str, result: GoalResult) -> None:
        """Remember an answer on the tree with this hash."""
        if tree in self._known:
            return
        self._known[tree] = (result.achieved, sorted(result.failing)[:SHOWN])
        achieved, failing = self._known[tree]
        entry = {"tree": tree, "achieved": achieved, "failing": failing}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def against(self, tree: str, result: GoalResult) -> Flaky | None:
        """Why the answer contradicts what was said of this tree before; None where it does not."""
        known = self._known.get(tree)
        if known is None or known[0] == result.achieved:
            return None
        achieved, failing = known
        cases = sorted(result.failing)[:SHOWN] if achieved else failing
        return Flaky(cases, "in an earlier check of this run and now")

    def _take(self, line: str) -> None:
        try:
            entry = cast("dict[str, Any]", json.loads(line))
            self._known[str(entry["tree"])] = (bool(entry["achieved"]), list(entry["failing"]))
        except (ValueError, KeyError, TypeError):
            return  # a line that a kill left half written
