"""Verdicts, remembered by the tree they were given on: what changed nothing re-runs nothing."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..contracts.context import RunContext
from ..contracts.goal import GoalResult
from ..guard.guard import Guard, Refusal
from ..workspace.tree_hash import TreeHasher


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one evaluation found.

    Attributes:
        result: the verdict.
        remembered: nothing had changed, so nothing was run.
        undone: what the guard put back before the check.
        tree: a hash of the tree that was judged.
        suspect: why the verdict is not to be believed although it holds; empty when it is.
    """

    result: GoalResult
    remembered: bool
    undone: list[Refusal]
    tree: str
    suspect: str = ""


class Verifier:
    """Asks the guard for verdicts.

    Attributes:
        checks_run: checks that ran, the baseline and the final ones too.
        checks_remembered: evaluations that ran none.
        last: the latest verdict; None before the baseline.
    """

    def __init__(self, context: RunContext, guard: Guard) -> None:
        self._context = context
        self._guard = guard
        self._hasher = TreeHasher(context.project)
        self._known: tuple[str, GoalResult, str] | None = None
        self.checks_run = 0
        self.checks_remembered = 0
        self.last: GoalResult | None = None

    async def baseline(self) -> GoalResult:
        """Take the baseline, or load the one of the run that is resumed."""
        if self._guard.has_baseline:
            self.last = self._guard.baseline.result()
            return self.last
        started = time.monotonic()
        result = await self._guard.take_baseline()
        self.checks_run += 1
        self._known, self.last = (await self._fingerprint(), result, ""), result
        self._publish("baseline", result, time.monotonic() - started)
        return result

    async def evaluate(self, state: Mapping[str, Any]) -> Evaluation:
        """Restore what the check relies on, then check, unless nothing has changed."""
        undone = await self._guard.restore()
        started = time.monotonic()
        before = await self._fingerprint()
        if self._known is not None and self._known[0] == before:
            self.checks_remembered += 1
            _, result, suspect = self._known
            self._publish("iteration", result, time.monotonic() - started, remembered=True)
            return Evaluation(result, True, undone, _short(before), suspect)
        result = await self._guard.check(state)
        self.checks_run += 1
        self._publish("iteration", result, time.monotonic() - started)
        suspect = ""
        if result.achieved:
            result, suspect = await self._final(state, result)
        # The fingerprint after the check: what the suite itself wrote is part of what was judged.
        after = await self._fingerprint()
        self._known, self.last = (after, result, suspect), result
        return Evaluation(result, False, undone, _short(after), suspect)

    async def _final(self, state: Mapping[str, Any], result: GoalResult) -> tuple[GoalResult, str]:
        started = time.monotonic()
        final, suspect = await self._guard.final_check(state)
        self.checks_run += 1
        self._publish("final", final, time.monotonic() - started)
        if final.achieved:
            return result, suspect
        reason = f"it holds in place but not on a clean copy of the project: {final.reason}"
        return replace(final, reason=reason), ""

    async def _fingerprint(self) -> str:
        tree = await asyncio.to_thread(self._hasher.state)
        return f"{tree.digest}:{await self._context.goal.external_state(self._context.project)}"

    def _publish(
        self,
        phase: Literal["baseline", "iteration", "final"],
        result: GoalResult,
        duration_s: float,
        *,
        remembered: bool = False,
    ) -> None:
        self._context.publish(
            "goal_check",
            phase=phase,
            achieved=result.achieved,
            reason=result.reason,
            details=result.details,
            counts=result.report.counts() if result.report else {},
            duration_s=round(duration_s, 3),
            remembered=remembered,
        )


def _short(fingerprint: str) -> str:
    return hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
