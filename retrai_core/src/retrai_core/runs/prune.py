"""Deletes old runs from any store."""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..contracts.record import UNDER_WAY, RunRecord
from ..contracts.store import RunStore, UnreadableRun
from ..errors import RetraiError, UsageError


@dataclass(frozen=True, slots=True)
class Pruned:
    """The ids of the runs that were considered for deletion.

    Attributes:
        removed: those that are gone.
        spared: those that stay only because they could be resumed.
        unreadable: those that stay only because their record cannot be read.
        failed: why a run could not be deleted, by its id.
    """

    removed: list[str] = field(default_factory=list[str])
    spared: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])


async def prune(
    store: RunStore,
    state: Path,
    *,
    keep: int | None = None,
    older_than_days: float | None = None,
    unfinished: bool = False,
    unreadable: bool = False,
) -> Pruned:
    """Delete runs beyond the newest `keep`, or older than so many days; none that goes on.

    Args:
        store: where they are kept.
        state: the state folder of this machine.
        keep: how many stay.
        older_than_days: those stay that ended, or were killed, later than that.
        unfinished: `keep` counts interrupted and pending runs like all others; else they stay
            beside the newest, until they are too old.
        unreadable: those whose record cannot be read count like all others; else they stay.
    """
    limit = time.time() - (older_than_days or 0) * 86_400
    pruned = Pruned()
    passed = 0
    for run in await store.list():
        damaged = isinstance(run, UnreadableRun)
        if not damaged and run.status in UNDER_WAY:
            continue
        stays = damaged and not unreadable
        too_many = keep is not None and passed >= keep
        too_old = older_than_days is not None and _last_change(run) < limit
        waits = not damaged and run.status in ("interrupted", "pending") and not unfinished
        passed += not (waits or stays)
        if not (too_many or too_old):
            continue
        if stays:
            pruned.unreadable.append(run.id)
        elif waits and not too_old:
            pruned.spared.append(run.id)
        else:
            await _prune_one(store, state, run.id, pruned)
    return pruned


async def delete_run(store: RunStore, state: Path, run_id: str) -> None:
    """Delete a run, and its folder on this machine, which a store may know nothing of.

    Raises:
        UsageError: somebody works on it, or it is gone.
        RetraiError: a file of it cannot be deleted.
    """
    await store.delete(run_id)
    folder = state / "runs" / run_id
    if folder.exists():
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _prune_one(store: RunStore, state: Path, run_id: str, pruned: Pruned) -> None:
    try:
        await delete_run(store, state, run_id)
    except UsageError:  # somebody works on it, or has just deleted it
        return
    except RetraiError as error:
        pruned.failed[run_id] = error.message
    else:
        pruned.removed.append(run_id)


def _last_change(run: RunRecord | UnreadableRun) -> float:
    """When the run ended or, for one that was killed before it left a trace, began."""
    if isinstance(run, UnreadableRun):
        return run.changed_at
    return run.ended_at or run.part_started_at or run.started_at or run.created_at
