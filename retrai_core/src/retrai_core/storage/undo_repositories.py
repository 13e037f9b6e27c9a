"""Undoes what a run did inside the project's repositories: commits, branches, the index.

A repository is undone as a whole or not at all: its HEAD, refs and index belong together. Objects
that were added stay, as after any `git reset`; those that are gone come back.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ..errors import RetraiError
from .git_store import Entry, GitStore, Reader
from .manifest import Manifest
from .repositories import give_object, root_of
from .restore import Undone, entry_of, put_entry, remove_file
from .snapshots import Snapshot, Snapshots
from .undo_folders import bits_of, give_bits

_Repository = Mapping[str, Entry | None]
"""What stands in one `.git`, by path: None for a folder; empty where there is none."""


def take_back_repositories(
    snapshots: Snapshots, project: Path, goal: Snapshot, end: Snapshot, read: Reader
) -> Undone:
    """Bring every repository that the run changed back to how it was at `goal`.

    One that is not as the run left it at `end` is a conflict: the user has worked in it since.
    That git has only looked at the files again counts for nothing.
    """
    undone = Undone()
    if not goal.repository_tree or not end.repository_tree:
        return undone  # taken by an older retrai
    bits, repositories = snapshots.manifest(goal), snapshots.repositories
    before = _by_root(snapshots.repository_entries(goal), bits)
    after = _by_root(snapshots.repository_entries(end), snapshots.manifest(end))
    is_same = partial(_is_same, snapshots.store, read)
    for root in sorted(before.keys() | after.keys()):
        wanted, left = before.get(root, {}), after.get(root, {})
        if is_same(wanted, left):
            continue
        now = _standing(snapshots, project, root)
        if is_same(now, wanted):
            continue
        missing = repositories.missing_objects(root) if wanted else {}
        if not is_same(now, left) or None in missing.values():
            undone.conflicts.append(root)
            continue
        _put_back(project, root, wanted, now, bits, read)
        for place, kept in missing.items():
            if kept is not None:
                give_object(kept, place)
        (undone.restored if wanted else undone.removed).append(root)
    return undone


def _standing(snapshots: Snapshots, project: Path, root: str) -> _Repository:
    """What stands in a repository now; its indexes are stored, so that they can be compared."""
    seen = snapshots.repositories.look([root])
    files = {path: entry_of(project / path) for path in seen.files}
    for path, entry in files.items():
        if entry is not None and entry.is_file and path.endswith("/index"):
            snapshots.store.run("hash-object", "-w", "--no-filters", str(project / path))
    return dict.fromkeys(seen.folders) | files


def _is_same(store: GitStore, read: Reader, one: _Repository, other: _Repository) -> bool:
    """Whether the same is in both; permission bits, objects and stats in an index do not matter."""

    def staged(entry: Entry | None) -> object:
        try:
            return store.staged(read(entry)) if entry is not None else None
        except RetraiError:
            return entry  # no index, or one in a form that this git does not read

    return one.keys() == other.keys() and all(
        entry == other[path] or (path.endswith("/index") and staged(entry) == staged(other[path]))
        for path, entry in one.items()
    )


def _by_root(entries: Mapping[str, Entry], manifest: Manifest) -> Mapping[str, _Repository]:
    found: dict[str, dict[str, Entry | None]] = {}
    for path, entry in [*dict.fromkeys(manifest.folders).items(), *entries.items()]:
        if root := root_of(path):
            found.setdefault(root, {})[path] = entry
    return found


def _put_back(
    project: Path,
    root: str,
    wanted: _Repository,
    now: _Repository,
    bits: Manifest,
    read: Reader,
) -> None:
    if _is_folder(now, root) and not _is_folder(wanted, root):
        shutil.rmtree(project / root)
        now = {}
    for path, entry in now.items():
        if entry is not None and wanted.get(path) is None:  # none, or a folder
            remove_file(project / path, project)
    for path, entry in wanted.items():
        if entry is not None and now.get(path) != entry:
            put_entry(project / path, entry, read(entry))
            give_bits(project / path, bits_of(bits, path, entry))


def _is_folder(repository: _Repository, path: str) -> bool:
    return path in repository and repository[path] is None
