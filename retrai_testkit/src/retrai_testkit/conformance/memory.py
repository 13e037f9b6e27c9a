"""The contract of memory stores."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from retrai_core import MemoryStore, RunOutcome, Strategy
from retrai_core.plugins.kinds import Kind

from ..bench import Bench
from ..footprint import Footprint
from ..overriding import NotApplicable
from .built import BuiltConformance
from .plugin import required

GOAL = "expected-files"
_AT_ONCE = 8


class MemoryStoreConformance(BuiltConformance):
    """The contract of a memory store, as tests: inherit it and say how it can be damaged.

    Example:
        >>> import tempfile
        >>> from retrai_core import MemoryStore
        >>> class Forgetful(MemoryStore):
        ...     name = "forgetful"
        ...     async def recall(self, goal, project):
        ...         return []
        ...     async def learn(self, outcome):
        ...         pass
        >>> class TestForgetful(MemoryStoreConformance):
        ...     plugin = Forgetful
        ...     def damage(self, project):
        ...         return NotApplicable("nothing is stored")
        >>> TestForgetful().test_what_an_achieved_run_did_is_recalled(
        ...     Path(tempfile.mkdtemp()), {}
        ... )  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        AssertionError: nothing was recalled...
    """

    kind: ClassVar[Kind] = "memory"

    def damage(self, project: Path) -> NotApplicable | None:
        """Make what the store has kept for `project` unreadable."""
        return required(None, "override damage(project)")

    def outcome(self, project: Path) -> RunOutcome:
        """A run that the store learns from."""
        return RunOutcome(
            goal=GOAL,
            project=project,
            outcome="achieved",
            failure="1 of 2 files are wrong",
            changed_files=("src/cart.py",),
            tools_used=("file_read", "file_patch"),
            notes="The discount was taken before the tax.",
        )

    def test_an_empty_store_recalls_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A project's first run finds no strategies, and no warning."""

        async def use(bench: Bench, store: Any) -> None:
            assert list(await store.recall(GOAL, bench.project)) == []
            assert bench.warnings() == []

        self.drive(tmp_path, plugin_options, use)

    def test_what_an_achieved_run_did_is_recalled(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Another run of the same goal is told a strategy, another goal's run is not."""

        async def learn(bench: Bench, store: Any) -> None:
            await store.recall(GOAL, bench.project)
            await store.learn(self.outcome(bench.project))

        async def recall(bench: Bench, store: Any) -> tuple[Sequence[Any], Sequence[Any]]:
            project = bench.project
            return await store.recall(GOAL, project), await store.recall("other-goal", project)

        self.drive(tmp_path, plugin_options, learn)
        found, of_another = self.drive(tmp_path, plugin_options, recall)
        assert found, "nothing was recalled"
        assert not of_another, "another goal is told this goal's strategies"
        for strategy in found:
            assert isinstance(strategy, Strategy)
            assert strategy.goal == GOAL
            assert strategy.pattern.strip()
            assert 0 <= strategy.confidence <= 1
            assert strategy.success_count >= 1

    def test_what_is_listed_can_be_forgotten(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Each entry has an id of its own; a forgotten one is neither listed nor recalled."""
        if self.plugin.entries is MemoryStore.entries:
            pytest.skip("this store does not list what it keeps")

        async def use(bench: Bench, store: Any) -> None:
            project = bench.project
            for number in (1, 2):
                await store.learn(_numbered(self.outcome(project), number))
            listed = await store.entries(project)
            ids = [entry.id for entry in listed]
            assert len(set(ids)) == len(listed) == 2, "two strategies, two entries"
            assert all(ids), "an entry without an id"
            assert all(entry.goal == GOAL for entry in listed)
            assert await store.forget(project, ["no such id"]) == 0
            assert await store.forget(project, ids[:1]) == 1
            assert [entry.id for entry in await store.entries(project)] == ids[1:]
            assert len(await store.recall(GOAL, project)) == 1

        self.drive(tmp_path, plugin_options, use)

    def test_the_best_comes_first(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """Strategies are sorted by confidence, the highest first."""

        async def use(bench: Bench, store: Any) -> list[float]:
            for number in (1, 2, 2, 2, 3, 3):
                await store.learn(_numbered(self.outcome(bench.project), number))
            return [found.confidence for found in await store.recall(GOAL, bench.project)]

        confidences = self.drive(tmp_path, plugin_options, use)
        assert confidences == sorted(confidences, reverse=True)

    @pytest.mark.parametrize(
        "outcome",
        ["failed", "aborted", "tampered", "stuck", "budget", "flaky", "error", "interrupted"],
    )
    def test_every_outcome_may_be_learnt_from(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], outcome: str
    ) -> None:
        """A run that did not achieve its goal is no success, and no exception."""

        async def use(bench: Bench, store: Any) -> Sequence[Strategy]:
            await store.learn(replace(self.outcome(bench.project), outcome=outcome))
            return await store.recall(GOAL, bench.project)

        assert not self.drive(tmp_path, plugin_options, use), "a success that was none"

    def test_odd_texts_are_kept(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """A model's text may be long, empty, of several lines, or no valid Unicode."""
        odd = ("", "a\nb\n" * 2000, "\u2603 \U0001f600", "half \ud800 a pair", '"}]\x00')

        async def use(bench: Bench, store: Any) -> None:
            for text in odd:
                outcome = self.outcome(bench.project)
                await store.learn(replace(outcome, notes=text, failure=text))
                assert all(
                    isinstance(found.pattern, str)
                    for found in await store.recall(GOAL, bench.project)
                )

        self.drive(tmp_path, plugin_options, use)

    def test_an_unreadable_store_is_a_warning(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Damage is told by a `log` event of level warning; the run goes on, and can learn."""

        async def use(bench: Bench, store: Any) -> None:
            await store.learn(self.outcome(bench.project))
            if (left_out := self.damage(bench.project)) is not None:
                required(left_out, "")
            assert list(await store.recall(GOAL, bench.project)) == []
            assert bench.warnings(), "no warning says that the store cannot be read"
            await store.learn(self.outcome(bench.project))

        self.drive(tmp_path, plugin_options, use)

    def test_a_project_that_cannot_be_written_is_no_error(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """In a read-only project a run ends as it would otherwise."""
        if os.geteuid() == 0:
            pytest.skip("root writes everywhere")

        async def use(bench: Bench, store: Any) -> None:
            bench.project.chmod(0o555)
            try:
                await store.recall(GOAL, bench.project)
                await store.learn(self.outcome(bench.project))
            finally:
                bench.project.chmod(0o755)

        self.drive(tmp_path, plugin_options, use)

    def test_runs_that_end_side_by_side_lose_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Eight stores that learn at once in one project: each goal's strategy is there after."""
        goals = [f"goal-{number}" for number in range(_AT_ONCE)]

        async def learn(bench: Bench, store: Any) -> None:
            others = [self.build(bench, plugin_options) for _ in goals]
            learnt = [replace(self.outcome(bench.project), goal=goal) for goal in goals]
            await asyncio.gather(
                *(other.learn(outcome) for other, outcome in zip(others, learnt, strict=True))
            )
            for other in others:
                await other.aclose()

        async def recall(bench: Bench, store: Any) -> list[str]:
            return [goal for goal in goals if not await store.recall(goal, bench.project)]

        self.drive(tmp_path, plugin_options, learn)
        lost = self.drive(tmp_path, plugin_options, recall)
        assert not lost, f"lost: {', '.join(lost)}"

    def test_using_it_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""

        async def use(bench: Bench, store: Any) -> None:
            await store.recall(GOAL, bench.project)
            await store.learn(self.outcome(bench.project))

        before = Footprint(self.package)
        self.drive(tmp_path, plugin_options, use)
        self.require_unchanged(before.changes())


def _numbered(outcome: RunOutcome, number: int) -> RunOutcome:
    files = (f"src/part_{number}.py",)
    return replace(outcome, changed_files=files, failure=f"part {'x' * number} is wrong")
