"""`retrai memory`: strategies learned from earlier runs, and how to remove them."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ..errors import UsageError
from .columns import aligned
from .lazy_group import PluginGroup
from .output import echo
from .project_option import project_option
from .render.words import one_line
from .with_manager import with_manager

if TYPE_CHECKING:
    from ..contracts.memory import MemoryStore, Strategy
    from ..runs.manager import RunManager

T = TypeVar("T")

_HEADINGS = ("ID", "GOAL", "WORKED", "TRUST", "STRATEGY")
_PATTERN_WIDTH, _WHOLE_PATTERN = 100, 10_000


@click.group(cls=PluginGroup)
def memory() -> None:
    """List or forget strategies learned from earlier runs."""


@memory.command("list")
@project_option
@click.option("--goal", help="Show only strategies for this goal.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_entries(project: Path, goal: str | None, as_json: bool) -> None:
    """List the strategies available to runs of the project, most trusted first."""
    entries = _with_store(project, lambda store, folder: _entries(store, folder, goal))
    if as_json:
        echo(json.dumps([_as_json(entry) for entry in entries], indent=2))
        return
    if not entries:
        echo("nothing is remembered; runs that achieve their goal teach it")
        return
    width = _PATTERN_WIDTH if sys.stdout.isatty() else _WHOLE_PATTERN
    rows = [
        (
            entry.id,
            entry.goal,
            str(entry.success_count),
            f"{entry.confidence:.2f}",
            one_line(entry.pattern, width),
        )
        for entry in entries
    ]
    echo(aligned([_HEADINGS, *rows]))


@memory.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@project_option
@click.option("--goal", help="Forget all strategies for this goal.")
@click.option("--all", "everything", is_flag=True, help="Forget all strategies.")
def forget(ids: Sequence[str], project: Path, goal: str | None, everything: bool) -> None:
    """Forget strategies by ID (`retrai memory list` shows them), by goal, or all."""
    if sum((bool(ids), goal is not None, everything)) != 1:
        raise click.UsageError("say which: one or more IDs, --goal NAME, or --all")

    async def drop(store: MemoryStore, folder: Path) -> int:
        known = [entry.id for entry in await _entries(store, folder, goal)]
        unknown = sorted(set(ids) - set(known))
        if unknown:
            raise UsageError(
                f"nothing remembered is called {unknown[0]}",
                hint="`retrai memory list` shows the ids",
            )
        chosen = list(ids) or known
        return await store.forget(folder, chosen) if chosen else 0

    forgotten = _with_store(project, drop)
    echo(f"forgot {forgotten} of what was remembered")


async def _entries(store: MemoryStore, project: Path, goal: str | None) -> list[Strategy]:
    return [entry for entry in await store.entries(project) if goal in (None, entry.goal)]


def _with_store(project: Path, use: Callable[[MemoryStore, Path], Awaitable[T]]) -> T:
    """Open the project's memory store for one question."""

    there = project.resolve()

    async def ask(manager: RunManager) -> T:
        async with manager.memory(project) as store:
            return await use(store, there)

    return with_manager(ask)


def _as_json(entry: Strategy) -> dict[str, object]:
    return {
        "id": entry.id,
        "goal": entry.goal,
        "pattern": entry.pattern,
        "success_count": entry.success_count,
        "confidence": round(entry.confidence, 3),
    }
