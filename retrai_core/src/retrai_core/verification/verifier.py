"""Remembers verdicts by tree: if nothing changed, nothing runs again."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..contracts.goal import GoalResult
from ..contracts.record import CheckEvidence, RunRecord
from ..workspace.own_output import own_output
from ..workspace.portable_tree import portable_files
from ..workspace.tree_hash import TreeHasher, TreeState
from ..workspace.tree_walk import Listing
from .final_check import check_with, final_check
from .flakiness import SHOWN, Flaky, Verdicts, differ
from .guard import Guard
from .holdout import NOT_ALL
from .refusal import Refusal

_MOST_NAMES = 200
_A_CHANGE = (
    "a file of the project: it counts as a change, and `retrai verify` will find it different; "
    "redirect the output to a place outside, or let .gitignore name the file"
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of one evaluation.

    Attributes:
        result: the verdict.
        suspect: why the verdict is not to be believed although it holds; empty when it is.
        flaky: that the check gave two answers on this tree, so that neither counts.
        tree: a hash of the tree that was judged.
        remembered: nothing had changed, so nothing was run.
        undone: what the guard put back before the check.
    """

    result: GoalResult
    suspect: str = ""
    flaky: Flaky | None = None
    tree: str = ""
    remembered: bool = False
    undone: Sequence[Refusal] = ()


class Verifier:
    """Asks the guard for verdicts.

    Args:
        guard: of the run; gives the verdicts.
        confirm: how many times a check that passes must pass again, on clean copies.

    Attributes:
        checks_run: checks that ran, the baseline and those on copies too.
        checks_remembered: evaluations that ran none.
        last: the latest verdict of this process; None before there is one.
        on_copy: the latest answer on a clean copy, when it passed there.
        passed_on_copies: how many times the latest tree passed on clean copies.
        flaky: that the check is flaky, once it is known.
        check_s: wall-clock seconds of the latest check in the project.
    """

    def __init__(self, guard: Guard, confirm: int) -> None:
        context = self._context = guard.context
        self._guard = guard
        self._confirm = confirm
        self._hasher = TreeHasher(context.project)
        self._own_output = own_output(context.project)
        self._tree: TreeState | None = None
        self._known: tuple[str, Evaluation] | None = None
        self._latest = ""
        self._only_read = False
        self._verdicts = Verdicts(context.run_dir / "verdicts.jsonl")
        self.checks_run = 0
        self.checks_remembered = 0
        self.last: GoalResult | None = None
        self.on_copy: GoalResult | None = None
        self.passed_on_copies = 0
        self.flaky: Flaky | None = None
        self.check_s = 0.0

    @property
    def files(self) -> dict[str, str]:
        """The tree of the latest verdict, as any copy of it has it; empty before the first.

        What the suite itself writes is not part of it, nor are held-out tests.
        """
        if self._tree is None:
            return {}
        files = portable_files(self._tree.without(self._guard.baseline.volatile))
        return {path: known for path, known in files.items() if not self._guard.is_held_out(path)}

    def note_in(self, record: RunRecord) -> None:
        """Write the latest verdict into the run's record."""
        if self.flaky is not None:
            record.evidence.flaky = list(self.flaky.cases)[:SHOWN]
        if self.last is not None:
            record.evidence.after = CheckEvidence.of(self.last)

    @property
    def listing(self) -> Listing | None:
        """What the latest look at the tree saw, for a snapshot of it; None before the first."""
        return None if self._tree is None else self._tree.listing

    async def baseline(self) -> GoalResult:
        """Take the baseline, or load the one of the run that is resumed."""
        if self._guard.has_baseline:
            await self._fingerprint()
            self._tell_of_own_output()
            known = self._guard.baseline.result()
            await self._find_held_out(known)
            return known
        started = time.monotonic()
        result = await self._guard.take_baseline()
        await self._find_held_out(result)
        self.checks_run += 1
        tree = await self._fingerprint()
        self._remember(tree, Evaluation(result))
        if not result.cut_off:
            self._verdicts.note(tree, result)
        self._publish("baseline", result, time.monotonic() - started)
        self._tell_of_own_output()
        return result

    async def confirm_baseline(self, result: GoalResult) -> GoalResult:
        """A project that passes before anything was done: does it pass on a clean copy too?

        Nothing is contradicted: nobody has changed anything yet.
        """
        verdict = await self._confirmed({}, result, await self._fingerprint(), contradict=False)
        self._remember(await self._fingerprint(), verdict)
        return verdict.result

    async def look(self) -> None:
        """Look at the tree again, which the guard has changed since the latest verdict."""
        await self._look_at_tree()

    def expect_changes(self) -> None:
        """A call is about to be made that may write or run something.

        Without one, the protected files, the runner's own in the environment, and what lies outside
        the tree (a database, say) are as they were.
        """
        self._only_read = False

    async def evaluate(self, state: Mapping[str, Any]) -> Evaluation:
        """Restore what the check relies on, then check, unless nothing has changed."""
        started = time.monotonic()
        if self._only_read and self._known is not None:
            tree = (await self._look_at_tree()).digest
            if self._known[0].startswith(f"{tree}:"):
                return self._remembered(self._known[1], [], started)
        undone = await self._guard.restore()
        before = await self._fingerprint()
        self._only_read = True
        if self._known is not None and self._known[0] == before:
            return self._remembered(self._known[1], undone, started)
        result = await self._guard.check(state)
        self.check_s = time.monotonic() - started
        self.checks_run += 1
        self._publish("iteration", result, time.monotonic() - started)
        # A check that was cut off gave no answer that another could contradict.
        flaky = None if result.cut_off else self._verdicts.against(before, result)
        if flaky is not None:
            verdict = _disbelieved(result, flaky)
        elif result.achieved:
            verdict = await self._confirmed(state, result, before, contradict=True)
        else:
            verdict = Evaluation(result)
        # The fingerprint after the check: what the suite itself wrote is part of what was judged.
        after = await self._fingerprint()
        if not result.cut_off:
            self._verdicts.note(after, result)
        return replace(self._remember(after, verdict), undone=undone)

    async def stands(self, tree: str) -> bool:
        """Whether the project is as it was when this hash of it was told in an `Evaluation`."""
        judged = self._tree
        try:
            if _short(self._latest) == tree and self._only_read:
                return self._latest.startswith(f"{(await self._look_at_tree()).digest}:")
            return _short(await self._fingerprint()) == tree
        finally:
            self._tree = judged

    def _remember(self, tree: str, verdict: Evaluation) -> Evaluation:
        """Keep the verdict for this tree; one of a check that was killed is asked for again.

        So is one that holds where the tree was looked at without retrai's own output: what stands
        there may have changed, and a receipt would vouch for it.
        """
        self._latest, self.last, self.flaky = tree, verdict.result, verdict.flaky
        evaluation = replace(verdict, tree=_short(tree))
        again = verdict.result.cut_off == "killed" or (verdict.result.achieved and self._own_output)
        self._known = None if again else (tree, evaluation)
        return evaluation

    async def _confirmed(
        self, state: Mapping[str, Any], result: GoalResult, tree: str, *, contradict: bool
    ) -> Evaluation:
        """Check clean copies of a tree that passes in place, as often as was asked for.

        Where the first copy fails, a second one tells a check that is flaky from one that holds
        only in place.
        """
        self.on_copy, self.passed_on_copies = None, 0
        first, suspect = await self._check_copy(state, contradict=contradict)
        if first.cut_off:
            first, suspect = await self._check_copy(state, contradict=contradict)
        more = 0 if first.cut_off else max(self._confirm - 1, 0 if first.achieved else 1)
        for _ in range(more):
            again, _ = await self._check_copy(state, contradict=False)
            if again.cut_off:
                first = again if first.achieved else first
                break
            flaky = differ(first, again, "on two clean copies")
            if flaky is not None:
                return _disbelieved(again if first.achieved else first, flaky)
        if not first.cut_off:
            on_copies = f"copies of {tree}"
            flaky = self._verdicts.against(on_copies, first)
            self._verdicts.note(on_copies, first)
            if flaky is not None:
                return _disbelieved(first, flaky)
        if first.achieved:
            self.on_copy = first
            if not suspect and not await self._held_out_pass(first):
                return Evaluation(replace(result, achieved=False, reason=NOT_ALL, details=NOT_ALL))
            return Evaluation(result, suspect)
        reason = f"it passes in place but not on a clean copy of the project: {first.reason}"
        return Evaluation(replace(first, reason=reason))

    async def _find_held_out(self, visible: GoalResult) -> None:
        holdout = self._guard.holdout
        if holdout.patterns and holdout.baseline is None:
            holdout.take_baseline(visible, await check_with(self._guard, holdout.put_in))

    async def _held_out_pass(self, visible: GoalResult) -> bool:
        """Whether the tests that the agent never sees pass too; nothing else is told of them."""
        holdout = self._guard.holdout
        if not holdout.patterns:
            return True
        self.checks_run += 1
        return holdout.count(visible, await check_with(self._guard, holdout.put_in)).achieved

    async def _check_copy(
        self, state: Mapping[str, Any], *, contradict: bool
    ) -> tuple[GoalResult, str]:
        started = time.monotonic()
        result, suspect = await final_check(self._guard, state, contradict=contradict)
        self.checks_run += 1
        self.passed_on_copies += result.achieved
        self._publish("final", result, time.monotonic() - started)
        return result, suspect

    def _remembered(
        self, known: Evaluation, undone: Sequence[Refusal], started: float
    ) -> Evaluation:
        self.checks_remembered += 1
        self._publish("iteration", known.result, time.monotonic() - started, remembered=True)
        return replace(known, remembered=True, undone=undone)

    def _tell_of_own_output(self) -> None:
        # What is ignored is in no receipt.
        for path in sorted(self._own_output & self._tree.files.keys() if self._tree else ()):
            message = f"this output goes to {path}, {_A_CHANGE}"
            self._context.publish("log", level="warning", message=message)

    async def _look_at_tree(self) -> TreeState:
        # What the suite itself writes is put back before every check, and so says nothing.
        written = self._own_output.union(self._guard.baseline.volatile)
        self._tree = await asyncio.to_thread(self._hasher.state, written)
        return self._tree.without(written)

    async def _fingerprint(self) -> str:
        tree = await self._look_at_tree()
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
            failing=result.failing[:_MOST_NAMES],
            counts=result.report.counts() if result.report else {},
            duration_s=round(duration_s, 3),
            remembered=remembered,
        )


def _disbelieved(result: GoalResult, flaky: Flaky) -> Evaluation:
    return Evaluation(replace(result, achieved=False, reason=flaky.reason), flaky=flaky)


def _short(fingerprint: str) -> str:
    return hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
