"""Looks through what a run changed where no snapshot looks: ignored files, installed packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..contracts.goal import GoalBase, Suspicion
from ..runs.snapshots import Snapshots
from ..runs.unseen import as_added, unseen_changes

MAX_FILES = 2_000
MAX_BYTES = 1_000_000


def audit_unseen(
    goal: GoalBase, project: Path, snapshots: Snapshots, since_s: float
) -> list[Suspicion]:
    """What a goal holds for suspect there; what the project's sources did at the start is not.

    Args:
        goal: the goal.
        project: the project.
        snapshots: of the run.
        since_s: seconds since the epoch; when the baseline was taken.
    """
    every = snapshots.all()
    if not snapshots.available or not every:
        return []
    seen = snapshots.entries(every[-1])
    unseen = unseen_changes(project, since_s, seen, snapshots.diff())
    found = [each for each in goal.audit(unseen) if each.reaches_runner] if unseen else []
    if not found:
        return []
    # What is built from sources does what those do.
    usual = {_kind(each) for text in _sources(snapshots) for each in goal.audit(text)}
    return [each for each in found if _kind(each) not in usual]


def _sources(snapshots: Snapshots) -> Iterator[str]:
    first = snapshots.all()[0]
    files = [(path, entry) for path, entry in snapshots.entries(first).items() if entry.is_file]
    for path, entry in files[:MAX_FILES]:
        data = snapshots.content(entry)
        if len(data) <= MAX_BYTES and b"\0" not in data:
            yield as_added(path, data.decode("utf-8", errors="replace"))


def _kind(suspicion: Suspicion) -> str:
    return suspicion.what.partition(":")[0]
