"""Audits what a run changed outside the snapshots: ignored files, the environment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ..contracts.goal import Suspicion
from ..storage.snapshots import Snapshots
from .guard import Guard
from .unsnapshotted_files import as_added, unseen_changes

MAX_FILES = 2_000
MAX_BYTES = 1_000_000


async def audit_around(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What a goal considers suspect outside of the diff.

    Args:
        guard: of the run.
        snapshots: of the run.
    """
    context, since_s = guard.context, guard.baseline.taken_at
    outside = await context.goal.audit_environment(context.project, since_s)
    written = await asyncio.to_thread(_written_late, guard, snapshots)
    return [*outside, *written, *await asyncio.to_thread(_audit_ignored, guard, snapshots)]


def _written_late(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What the check writes since the run; files that git ignores are what it builds."""
    first = snapshots.all()[:1] if snapshots.available else []
    kept = snapshots.entries(first[0]) if first else guard.baseline.protected
    what = "is written while the check runs, and was not before"
    late = [path for path in guard.baseline.written_late if path in kept]
    return [Suspicion(path, 1, what, sign="unchanged") for path in late]


def _audit_ignored(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What the goal's audit finds in files that no snapshot holds, and what was too much."""
    goal, project = guard.context.goal, guard.context.project
    every = snapshots.all()
    if not snapshots.available or not every:
        return []
    known, since_s = snapshots.entries(every[-1]).keys(), guard.baseline.taken_at
    unseen, unread = unseen_changes(project, since_s, known, snapshots.diff())
    found = [each for each in goal.audit(unseen) if each.reaches_runner or each.sign]
    if found:
        # What is built from sources does what those do.
        usual = {_kind(each) for text in _sources(snapshots) for each in goal.audit(text)}
        found = [each for each in found if _kind(each) not in usual]
    if unread:
        more = len(unread) - 1
        what = "was not looked through, there is too much" + (
            f" (nor were {more} more files)" if more else ""
        )
        found.append(Suspicion(unread[0], 1, what, reaches_runner=True))
    return found


def _sources(snapshots: Snapshots) -> Iterator[str]:
    first = snapshots.all()[0]
    files = [(path, entry) for path, entry in snapshots.entries(first).items() if entry.is_file]
    with snapshots.store.reading() as read:
        for path, entry in files[:MAX_FILES]:
            data = read(entry)
            if len(data) <= MAX_BYTES and b"\0" not in data:
                yield as_added(path, data.decode("utf-8", errors="replace"))


def _kind(suspicion: Suspicion) -> str:
    return suspicion.what.partition(":")[0]
