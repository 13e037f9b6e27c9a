"""What a goal does on a passing and on a failing project, seen once and judged by many tests."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retrai_core import GoalResult

from ..bench import Bench
from ..footprint import Footprint
from ..watching import acts_past_context
from .plugin import in_folder

_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Observed:
    """What came of checks of two projects, by two instances, two at a time.

    Attributes:
        passing: of the passing project.
        in_copy: of a copy of it, while a failing project stood in its place.
        failing: of the failing project, twice.
        ready: what `ready` said of the passing project.
        fingerprints: `external_state` before and after the checks.
        changed: the files of the failing project that are different after its checks.
        processes: what was started past the sandbox.
        left: what was left changed in our process by the second round.
    """

    passing: GoalResult
    in_copy: GoalResult
    failing: tuple[GoalResult, GoalResult]
    ready: str | None
    fingerprints: tuple[str, str]
    changed: tuple[str, ...]
    processes: tuple[str, ...]
    left: tuple[str, ...] = ()


def observe(
    base: Path,
    prepare: Callable[[Path, Callable[[Path], object]], AbstractAsyncContextManager[Bench]],
    build: Callable[[Bench], Any],
    write_passing: Callable[[Path], object],
    write_failing: Callable[[Path], object],
    package: str,
) -> Observed:
    """Check both projects.

    Args:
        base: a folder for all of it.
        prepare: opens a bench on a project that a function writes.
        build: builds the goal for a bench.
        write_passing: writes the project in which the goal passes.
        write_failing: writes the other one.
        package: the plugin's package, whose globals are compared.
    """

    async def work() -> tuple[Observed, Footprint]:
        async with (
            asyncio.timeout(_PATIENCE_S),
            prepare(base / "passing", write_passing) as one,
            prepare(base / "failing", write_failing) as two,
        ):
            first, second = build(one), build(two)
            try:
                return await _checked(first, second, one, two)
            finally:
                await first.aclose()
                await second.aclose()

    async def _checked(
        first: Any, second: Any, one: Bench, two: Bench
    ) -> tuple[Observed, Footprint]:
        before = in_folder(two.project)
        copy = base / "elsewhere" / "copy"
        with acts_past_context(base) as acts:
            ready = await first.ready()
            outside = str(await second.external_state(two.project))
            passing, failing = await _both(
                first.check({}, one.project), second.check({}, two.project)
            )
            shutil.copytree(one.project, copy)
            shutil.rmtree(one.project)
            one.project.mkdir()
            write_failing(one.project)
            footprint = Footprint(package)  # what is imported late is in now
            in_copy, again = await _both(first.check({}, copy), second.check({}, two.project))
            fingerprints = (outside, str(await second.external_state(two.project)))
        after = in_folder(two.project)
        changed = tuple(sorted(name for name, _ in before.items() ^ after.items()))
        processes = tuple(acts.processes)
        seen = Observed(passing, in_copy, (failing, again), ready, fingerprints, changed, processes)
        return seen, footprint

    seen, footprint = asyncio.run(work())
    return replace(seen, left=tuple(footprint.changes()))


async def _both(
    first: Awaitable[GoalResult], second: Awaitable[GoalResult]
) -> tuple[GoalResult, GoalResult]:
    return await asyncio.gather(first, second)
