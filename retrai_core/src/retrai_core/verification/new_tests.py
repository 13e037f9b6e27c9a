"""New tests must fail on the old tree: one that also passes there proves nothing about the
change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..contracts.goal import CheckReport
from ..storage.snapshots import Snapshots
from .guard import Guard
from .source_changes import SourceChanges
from .verdict import function_of

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NewTests:
    """Results of the tests that a run added or changed, on the original sources.

    Attributes:
        idle: those that pass there.
        proving: those that fail there, or cannot even be collected.
        asked_for: the user lets the run change tests, and the run has changed sources too: then
            some test must prove the change.
    """

    idle: Sequence[str] = ()
    proving: Sequence[str] = ()
    asked_for: bool = False

    @property
    def finding(self) -> str:
        """One line for people; empty when every one proves something."""
        if not self.idle:
            return ""
        named = ", ".join(self.idle[:_SHOWN]) + (", ..." if len(self.idle) > _SHOWN else "")
        return f"new or changed tests that pass on the sources as they were too: {named}"

    @property
    def refusal(self) -> str:
        """Why the verdict does not stand; empty when it does."""
        if not self.asked_for or self.proving or not self.idle:
            return ""
        return (
            "none of the new or changed tests fails on the sources as they were, so they prove "
            f"nothing of the change: {', '.join(self.idle[:_SHOWN])}"
        )


@dataclass
class NewTestsCheck:
    """Tries new tests on the tree before the first turn, once for each set of changed files.

    Attributes:
        guard: knows what belongs to the check.
        snapshots: know what was changed.
    """

    guard: Guard
    snapshots: Snapshots
    _known: dict[str, NewTests] = field(default_factory=dict[str, NewTests])

    async def look(self, state: Mapping[str, Any], report: CheckReport | None) -> NewTests:
        """What came of the tests that the run added or changed; starts the check when some were.

        Raises:
            RetraiError: the tree before the first turn cannot be had.
        """
        if report is None or report.ids_may_change or not self.guard.baseline.cases:
            return NewTests()
        changes = await SourceChanges.of(self.guard, self.snapshots, report)
        tried = self._functions(report, changes.tests) if changes.tests else []
        if not tried:
            return NewTests()
        if changes.key not in self._known:
            self._known[changes.key] = await self._try(state, tried, changes)
        return self._known[changes.key]

    async def _try(
        self, state: Mapping[str, Any], tried: Sequence[str], changes: SourceChanges
    ) -> NewTests:
        result = await self.guard.check_with(state, changes.undo)
        if result.report is None:
            return NewTests()
        cases = result.report.cases
        passed = {function_of(case) for case, outcome in cases.items() if outcome == "passed"}
        failed = {function_of(case) for case, outcome in cases.items() if outcome != "passed"}
        idle = [name for name in tried if name in passed and name not in failed]
        proving = [name for name in tried if name not in idle]
        allowed = any(self.guard.is_allowed(path) for path in changes.tests)
        asked_for = bool(changes.sources) and allowed
        return NewTests(idle, proving, asked_for)

    def _functions(self, report: CheckReport, tests: frozenset[str]) -> list[str]:
        """Tests that passed and are new, or that failed at first and may have been changed."""
        before: dict[str, bool] = {}
        for case, outcome in self.guard.baseline.cases.items():
            function = function_of(case)
            before[function] = before.get(function, False) or outcome == "passed"
        found: dict[str, None] = {}
        for case, outcome in report.cases.items():
            function = function_of(case)
            path = function.split("::", 1)[0]
            # A file that could not be read at first stands for the tests that it has now.
            known = before.get(function, path in before)
            if outcome == "passed" and not known and (function not in before or path in tests):
                found[function] = None
        return list(found)
