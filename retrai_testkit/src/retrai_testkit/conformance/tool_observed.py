"""What a tool's examples do, seen once and judged by many tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrai_core import ToolResult

from ..bench import Bench
from ..footprint import Footprint
from ..watching import Acts, acts_past_context, unwatched
from .plugin import in_folder

_PATIENCE_S = 120.0


@dataclass(frozen=True)
class ToolExample:
    """A call, and what must come of it.

    Attributes:
        args: the arguments.
        ok: whether the tool can do it.
        contains: a text that the answer holds.
        writes: files that hold these texts afterwards, by path.
    """

    args: Mapping[str, Any]
    ok: bool = True
    contains: str = ""
    writes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Tried:
    """What came of one example, in a project of its own.

    Attributes:
        problem: what is not as the example states; empty when all is.
        acts: what was done past the context.
        wrote: the project was changed.
        bystander_uses: how often the context of another run was used.
    """

    problem: str
    acts: Acts
    wrote: bool
    bystander_uses: int


@dataclass(frozen=True)
class ObservedTool:
    """All examples, then the first one by two instances side by side.

    Attributes:
        tried: in the order of the examples.
        side_by_side: what went wrong when two instances worked at once.
        left: what the second use left changed in our process.
    """

    tried: Sequence[Tried]
    side_by_side: Sequence[str]
    left: Sequence[str]


@dataclass(frozen=True)
class Trial:
    """How the examples are tried.

    Attributes:
        prepare: opens a bench on a new project.
        build: builds the tool for a bench.
        call: calls it.
        package: the plugin's package, whose globals are compared.
    """

    prepare: Callable[[Path], AbstractAsyncContextManager[Bench]]
    build: Callable[[Bench], Any]
    call: Callable[[Bench, Any, Mapping[str, Any]], Awaitable[ToolResult]]
    package: str


def observe(base: Path, trial: Trial, examples: Sequence[ToolExample]) -> ObservedTool:
    """Try the examples in folders below `base`."""
    tried = [
        asyncio.run(_alone(base / str(number), trial, example))
        for number, example in enumerate(examples)
    ]
    footprint = Footprint(trial.package)  # what is imported late is in now
    side_by_side = asyncio.run(_at_once(base / "at-once", trial, examples[0]))
    return ObservedTool(tried, side_by_side, footprint.changes())


async def _alone(base: Path, trial: Trial, example: ToolExample) -> Tried:
    async with (
        asyncio.timeout(_PATIENCE_S),
        trial.prepare(base / "run") as bench,
        trial.prepare(base / "bystander") as bystander,
    ):
        tool, other = trial.build(bench), trial.build(bystander)
        try:
            before = in_folder(bench.project)
            with acts_past_context(bench.project) as acts:
                problem = await _problem(trial, bench, tool, example)
            wrote = in_folder(bench.project) != before or bool(bench.workspace.written)
        finally:
            await tool.aclose()
            await other.aclose()
        return Tried(problem, acts, wrote, bystander.uses)


async def _at_once(base: Path, trial: Trial, example: ToolExample) -> Sequence[str]:
    async with (
        asyncio.timeout(_PATIENCE_S),
        trial.prepare(base / "one") as one,
        trial.prepare(base / "two") as two,
    ):
        tools = [(bench, trial.build(bench)) for bench in (one, two)]
        try:
            problems = await asyncio.gather(
                *(_problem(trial, bench, tool, example) for bench, tool in tools)
            )
        finally:
            for _, tool in tools:
                await tool.aclose()
        return [problem for problem in problems if problem]


async def _problem(trial: Trial, bench: Bench, tool: Any, example: ToolExample) -> str:
    """What is not as the example states; empty when all is."""
    told = f"{dict(example.args)}"
    try:
        answer = await trial.call(bench, tool, example.args)
    except Exception as error:  # noqa: BLE001 - told in the test that judges
        return f"{told} raises {type(error).__name__}: {error}"
    if answer.ok is not example.ok:
        return f"{told} answers ok={answer.ok}: {answer.content[:500]}"
    if example.contains not in answer.content:
        return f"{told} does not answer {example.contains!r}: {answer.content[:500]}"
    for path, text in example.writes.items():
        file = bench.project / path
        with unwatched():
            found = file.read_text("utf-8") if file.is_file() else None
        if found != text:
            return f"{told} leaves {found!r} in {path}"
    return ""
