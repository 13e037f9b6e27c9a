"""Checks a project's goal without a run: once in place, or with the whole final verification."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from ..config.sources import Settings
from ..contracts.goal import GoalResult
from ..contracts.verdict import Verdict
from ..errors import UsageError
from ..verification.baseline import Baseline
from ..verification.final_check import final_check
from ..verification.guard import Guard
from ..workspace.temporary import temporary_prefix
from .resolver import Resolver
from .session import RunSession


async def check(settings: Settings, baseline: Verdict | None, *, final: bool) -> Verdict:
    """What the goal says of the project as it stands: see `RunManager.check`."""
    before = None if baseline is None else _taken(baseline)
    with tempfile.TemporaryDirectory(
        prefix=temporary_prefix("retrai-check"), ignore_cleanup_errors=True
    ) as folder:
        resolver = await asyncio.to_thread(Resolver, settings, run_dir=Path(folder))
        resolved = await asyncio.to_thread(resolver.check)
        async with RunSession(resolved, Path(folder)) as session:
            await session.build()
            assert session.guard is not None
            guard = session.guard
            later = {"iteration": 1}  # an empty state is that of the check before the first turn
            if before is None:
                result = await guard.take_baseline()
            else:
                await guard.take_over(before)
                result = None if final else await guard.check(later)
            suspect = ""
            evidence: dict[str, Any] = {"versions": resolved.versions()}
            if final and (result is None or result.achieved):
                result, suspect = await final_check(guard, later)
                evidence["clean_copy"] = {"achieved": result.achieved, "suspect": suspect}
            assert result is not None
            return verdict_of(guard, result, suspect, evidence)


def verdict_of(guard: Guard, result: GoalResult, suspect: str, evidence: dict[str, Any]) -> Verdict:
    """The answer of a check, with what every check knows beside the `evidence` of this one."""
    report = result.report
    evidence |= {"goal": guard.context.goal.name, "details": result.details}
    evidence |= {"baseline": guard.baseline.model_dump(mode="json"), "python": guard.context.python}
    if report is not None:
        ran = {"command": list(report.command), "interpreter": report.interpreter}
        evidence |= {"check": ran}
    return Verdict(
        achieved=result.achieved and not suspect,
        reason=suspect or result.reason,
        counts={} if report is None else report.counts(),
        cases=dict(result.cases),
        suspicions=[suspect] if suspect else [],
        evidence=evidence,
    )


def _taken(baseline: Verdict) -> Baseline:
    try:
        return Baseline.model_validate(baseline.evidence["baseline"])
    except (KeyError, ValueError) as error:
        raise UsageError(
            "the baseline of this verdict is missing or not known here",
            hint="give one that `RunManager.check` has made",
        ) from error
