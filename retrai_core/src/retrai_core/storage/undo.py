"""Undoes the changes of a run, and keeps what the user changed since."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from ..errors import UsageError
from ..workspace.temporary import temporary_prefix
from .git_store import Entry, Reader
from .restore import Undone, entry_of, put_entry, remove_file
from .snapshots import Snapshot, Snapshots
from .undo_folders import bits_of, give_bits, remove_folders, take_back_bits, take_back_folders
from .undo_repositories import take_back_repositories

_MERGE_TIMEOUT_S = 60


def undo(snapshots: Snapshots, project: Path, to: int = 0, *, dry_run: bool = False) -> Undone:
    """Bring the project back to how it was after iteration `to`; 0 is before the first.

    Only what the run changed after that is touched, and of it only what still is as the run left
    it, or can be merged with what the user has done since. What git ignores is left alone. With
    `dry_run` nothing is touched, and only files are told, no repositories and permission bits.

    Raises:
        UsageError: git is not there, or the run has no snapshot.
    """
    if not snapshots.available:
        raise UsageError("`git` is not installed", hint="install git to undo a run")
    every = snapshots.all()
    if not every:
        raise UsageError("this run kept no snapshot, so there is nothing to undo")
    with snapshots.store.reading() as read:
        return _undone(snapshots, project, snapshots.at(to), every[-1], read, dry_run=dry_run)


def _undone(
    snapshots: Snapshots,
    project: Path,
    goal: Snapshot,
    end: Snapshot,
    read: Reader,
    *,
    dry_run: bool,
) -> Undone:
    wanted, left = snapshots.entries(goal), snapshots.entries(end)
    both = wanted.keys() | left.keys()
    paths = sorted(path for path in both if wanted.get(path) != left.get(path))
    undone = Undone()
    if dry_run:
        for path in paths:
            _take_back(read, project, path, wanted.get(path), left.get(path), undone, dry_run=True)
        return undone
    bits, bits_left = snapshots.manifest(goal), snapshots.manifest(end)
    there = {folder for folder in bits.folders if (project / folder).is_dir()}
    for path in sorted(path for path in paths if path not in wanted):
        _take_back(read, project, path, None, left[path], undone)
    repositories = take_back_repositories(snapshots, project, goal, end, read)
    if repositories.conflicts:
        bits = bits.without(repositories.conflicts)
        bits_left = bits_left.without(repositories.conflicts)
    # Then the folders they stood in: a file may have been where they are.
    remove_folders(project, bits, bits_left)
    for path in sorted(path for path in paths if path in wanted):
        _take_back(read, project, path, wanted[path], left.get(path), undone)
    for path in undone.restored:
        give_bits(project / path, bits_of(bits, path, wanted[path]))
    every = wanted | snapshots.repository_entries(goal)
    every_left = left | snapshots.repository_entries(end)
    stayed = {path: entry for path, entry in every.items() if every_left.get(path) == entry}
    undone.restored += take_back_bits(project, stayed, bits, bits_left)
    take_back_folders(project, bits, bits_left, there)
    undone.restored += repositories.restored
    undone.removed += repositories.removed
    undone.conflicts += repositories.conflicts
    return undone


def _take_back(
    read: Reader,
    project: Path,
    path: str,
    wanted: Entry | None,
    left: Entry | None,
    undone: Undone,
    *,
    dry_run: bool = False,
) -> None:
    target = project / path
    now = entry_of(target)
    if now == wanted:
        return
    if now == left:
        if wanted is None:
            if not dry_run:
                remove_file(target, project)
            undone.removed.append(path)
        elif dry_run or put_entry(target, wanted, read(wanted)):
            undone.restored.append(path)
        else:
            undone.conflicts.append(path)
        return
    merged = None
    if now and wanted and left and all(entry.is_file for entry in (now, wanted, left)):
        there = target.read_bytes()
        merged = _merge(there, read(left), read(wanted))
        if merged == there:
            return  # an earlier undo took the run's change out already
    if merged is None or wanted is None:
        undone.conflicts.append(path)
    elif dry_run or put_entry(target, wanted, merged):
        undone.merged.append(path)
    else:
        undone.conflicts.append(path)


def _merge(now: bytes, left: bytes, wanted: bytes) -> bytes | None:
    """What the user has now, with the run's change taken out; None where the two overlap."""
    if any(b"\0" in data for data in (now, left, wanted)):
        return None
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-undo")) as folder:
        names = [Path(folder, name) for name in ("now", "left", "wanted")]
        for name, data in zip(names, (now, left, wanted), strict=True):
            name.write_bytes(data)
        done = subprocess.run(  # our own git, on our own copies
            ["git", "merge-file", "-p", *map(str, names)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_MERGE_TIMEOUT_S,
            check=False,
        )
    return done.stdout if done.returncode == 0 else None
