"""Undoes what a run did inside the project's repositories: commits, branches, the index.

A repository is undone as a whole or not at all: its HEAD, refs and index belong together. Objects
that were added stay, as after any `git reset`; those that are gone come back.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
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
    compare = _Comparison(snapshots.store, read)
    for root in sorted(before.keys() | after.keys()):
        wanted, left = before.get(root, {}), after.get(root, {})
        if compare.is_same(wanted, left):
            continue
        seen = repositories.look([root])
        now = dict.fromkeys(seen.folders) | {p: compare.note(project / p) for p in seen.files}
        if compare.is_same(now, wanted):
            continue
        missing = repositories.missing_objects(root) if wanted else {}
        if not compare.is_same(now, left) or None in missing.values():
            undone.conflicts.append(root)
            continue
        _put_back(project, root, wanted, now, bits, read)
        for place, kept in missing.items():
            if kept is not None:
                give_object(kept, place)
        (undone.restored if wanted else undone.removed).append(root)
    return undone


class _Comparison:
    """Compares repositories without the file stats in their indexes."""

    def __init__(self, store: GitStore, read: Reader) -> None:
        self._store = store
        self._read = read
        self._present: dict[Entry, bytes] = {}

    def note(self, path: Path) -> Entry | None:
        """What stands in the project now."""
        entry = entry_of(path)
        if entry is not None and entry.is_file and path.name == "index":
            self._present[entry] = path.read_bytes()
        return entry

    def is_same(self, one: _Repository, other: _Repository) -> bool:
        """Whether the same is in both; permission bits and objects do not matter."""
        return one.keys() == other.keys() and all(
            entry == other[path] or (path.endswith("/index") and self._same(entry, other[path]))
            for path, entry in one.items()
        )

    def _same(self, one: Entry | None, other: Entry | None) -> bool:
        if one is None or other is None:
            return False
        try:
            return self._staged(one) == self._staged(other)
        except RetraiError:
            return False  # no index, or one in a form that this git does not read

    def _staged(self, entry: Entry) -> str:
        data = self._present.get(entry)
        return self._store.staged(self._read(entry) if data is None else data)


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
