"""New tests must fail on the old tree: one that also passes there proves nothing about the
change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..contracts.goal import CheckReport
from ..storage.snapshots import Snapshots
from .final_check import check_with
from .guard import Guard
from .source_changes import SourceChanges
from .verdict import function_of

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NewTests:
    """What the tests that a run added or changed prove.

    Attributes:
        finding: one line for people; empty when every one proves something.
        refusal: why the verdict does not stand; empty when it does.
    """

    finding: str = ""
    refusal: str = ""


async def try_new_tests(guard: Guard, snapshots: Snapshots, report: CheckReport | None) -> NewTests:
    """Run the tests that the run added or changed on the sources from before the first turn.

    Where the user lets the run change tests, and the run has changed sources too, some test must
    fail there, or not even be collected: it proves the change.

    Args:
        guard: knows what belongs to the check.
        snapshots: know what was changed.
        report: of the check that passed.

    Raises:
        RetraiError: the tree before the first turn cannot be had.
    """
    if report is None or report.ids_may_change or not guard.baseline.cases:
        return NewTests()
    changes = await asyncio.to_thread(SourceChanges.of, guard, snapshots)
    tried = _functions(guard, report, changes) if changes.tests else []
    result = await check_with(guard, changes.undo) if tried else None
    if result is None or result.report is None:
        return NewTests()
    cases = result.report.cases.items()
    passed = {function_of(case) for case, outcome in cases if outcome == "passed"}
    failed = {function_of(case) for case, outcome in cases if outcome != "passed"}
    idle = [name for name in tried if name in passed and name not in failed]
    if not idle:
        return NewTests()
    named = ", ".join(idle[:_SHOWN]) + (", ..." if len(idle) > _SHOWN else "")
    finding = f"new or changed tests that pass on the sources as they were too: {named}"
    must_prove = bool(changes.sources) and any(map(guard.is_allowed, changes.tests))
    if not must_prove or len(idle) < len(tried):
        return NewTests(finding)
    return NewTests(
        finding,
        "none of the new or changed tests fails on the sources as they were, so they prove "
        f"nothing of the change: {named}",
    )


def _functions(guard: Guard, report: CheckReport, changes: SourceChanges) -> list[str]:
    """Tests that passed and are new, or that failed at first and may have been changed."""
    before: dict[str, bool] = {}
    for case, outcome in guard.baseline.cases.items():
        function = function_of(case)
        before[function] = before.get(function, False) or outcome == "passed"
    found: dict[str, None] = {}
    for case, outcome in report.cases.items():
        function = function_of(case)
        path = function.split("::", 1)[0]
        # A file that could not be read at first stands for the tests that it has now.
        known = before.get(function, path in before)
        may_be = path in changes.tests or (function not in before and path not in changes.sources)
        if outcome == "passed" and not known and may_be:
            found[function] = None
    return list(found)
