"""New tests must fail on the old tree: one that also passes there proves nothing about the
change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contracts.goal import CheckReport
from ..errors import RetraiError
from ..storage.git_store import Entry
from ..storage.restore import entry_of, put_entry
from ..storage.snapshots import Snapshots
from .guard import Guard
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


@dataclass(frozen=True)
class SourceChanges:
    """What the run changed, told apart into tests and sources.

    Attributes:
        snapshots: of the run.
        tests: paths of what belongs to the check.
        sources: by path, what stood there before the first turn; None where nothing did.
        key: equal where the changes are.
    """

    snapshots: Snapshots
    tests: frozenset[str] = frozenset()
    sources: Mapping[str, Entry | None] = field(default_factory=dict[str, Entry | None])
    key: str = ""

    @classmethod
    async def of(cls, guard: Guard, snapshots: Snapshots, report: CheckReport) -> SourceChanges:
        """The changes between the first and the last snapshot; none where there are not two."""
        return await asyncio.to_thread(cls._of, guard, snapshots, report)

    @classmethod
    def _of(cls, guard: Guard, snapshots: Snapshots, report: CheckReport) -> SourceChanges:
        every = snapshots.all()
        if not snapshots.available or len(every) < 2:
            return cls(snapshots)
        before, now = snapshots.entries(every[0]), snapshots.entries(every[-1])
        paths = sorted(before.keys() | now.keys())
        changed = [path for path in paths if before.get(path) != now.get(path)]
        # Not `case == path`: where a whole file is a case, as of a type checker, it is a source.
        files = {case.partition("::")[0] for case in report.cases if "::" in case}
        tests = {path for path in changed if guard.belongs_to_check(path) or path in files}
        sources = {path: before.get(path) for path in changed if path not in tests}
        key = repr([(path, before.get(path), now.get(path)) for path in changed])
        return cls(snapshots, frozenset(tests), sources, key)

    def undo(self, copy: Path) -> None:
        """Put the sources in a copy back as they were.

        Raises:
            RetraiError: one of them cannot be put back.
        """
        for path, entry in sorted(self.sources.items(), key=lambda pair: pair[1] is not None):
            target = copy / path
            if entry is None:
                target.unlink(missing_ok=True)
            elif entry_of(target) != entry and not put_entry(
                target, entry, self.snapshots.content(entry)
            ):
                raise RetraiError(f"{path} cannot be put back as it was")


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
