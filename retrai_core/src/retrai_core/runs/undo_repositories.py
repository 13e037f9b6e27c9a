"""Taking back what a run did inside the project's repositories: commits, branches, the index.

A repository is taken back as a whole or not at all: its HEAD, refs, index and objects only mean
something together.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import RetraiError
from ..workspace.temporary import temporary_prefix
from .manifest import Manifest
from .object_check import is_sound
from .object_store import Entry, ObjectStore
from .putting_back import Undone, put_entry
from .repositories import KeptObject, Repositories
from .snapshots import Snapshot, Snapshots
from .undo_folders import bits_of, give_bits, remove_folders, take_back_bits, take_back_folders

_ROOT = re.compile(r"(?:^|.*?/)\.git(?=/|$)")


@dataclass(frozen=True)
class _Repository:
    """One `.git` at one moment; empty where there was none."""

    entries: Mapping[str, Entry]
    manifest: Manifest
    objects: Mapping[str, KeptObject]


def take_back_repositories(
    snapshots: Snapshots, project: Path, goal: Snapshot, end: Snapshot
) -> Undone:
    """Bring every repository that the run changed back to how it was at `goal`.

    One that is not as the run left it at `end` is a conflict: the user has worked in it since.
    Where git has only looked at the files again since, it counts as left alone.
    """
    undone = Undone()
    wanted, left = snapshots.repositories(goal), snapshots.repositories(end)
    if wanted is None or left is None:
        return undone  # taken by an older retrai, which kept nothing of them
    store = snapshots.store
    before, after = _by_root(store, wanted), _by_root(store, left)
    changed = [
        root for root in sorted(before.keys() | after.keys()) if before.get(root) != after.get(root)
    ]
    now = _by_root(store, snapshots.repositories_now(changed)) if changed else {}
    for root in changed:
        asked, was, there = (
            moment.get(root, _Repository({}, Manifest(), {})) for moment in (before, after, now)
        )
        if there == asked:
            continue
        if not _is_same(store, there, was):
            # Taken back already, or the run itself had only looked: there is nothing to do.
            if not _is_same(store, there, asked) and not _is_same(store, asked, was):
                undone.conflicts.append(root)
        elif not _can_give(snapshots.objects, asked, there):
            undone.conflicts.append(root)
        else:
            known = asked.objects.keys() | was.objects.keys()
            _put_back(snapshots, project, asked, _without_later_objects(there, known))
            if _is_noticed(store, asked, was):
                (undone.restored if root in before else undone.removed).append(root)
    _mend_objects(snapshots, project, goal, before, undone)
    return undone


def _mend_objects(
    snapshots: Snapshots,
    project: Path,
    goal: Snapshot,
    before: Mapping[str, _Repository],
    undone: Undone,
) -> None:
    """Find objects that were written to in place, which no name and no size tells.

    Most are kept as links of the very same file, and are then damaged there too.
    """
    since_ns = snapshots.repositories_known_ns(goal)
    for root, repository in before.items():
        if root in undone.conflicts:
            continue
        mended = False
        for path, (name, bits) in repository.objects.items():
            place, kept = project / path, snapshots.objects / name
            if not _is_damaged(path, place, since_ns):
                continue
            if name and not _is_damaged(path, kept, 0):
                _give_object(kept, place)
                give_bits(place, bits)
                mended = True
            else:
                undone.damaged.append(path)
        if mended and root not in undone.restored:
            undone.restored.append(root)


def _is_damaged(path: str, file: Path, since_ns: int) -> bool:
    """Whether it has been written to after a moment, and is not sound; gone is not damaged."""
    try:
        return file.lstat().st_ctime_ns > since_ns and not is_sound(path, file)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_noticed(store: ObjectStore, asked: _Repository, was: _Repository) -> bool:
    """Whether the user could see that the run did it: more than that git looked at the files."""
    kept = {path: kept for path, kept in was.objects.items() if path in asked.objects}
    return not (
        _is_same(store, asked, was)
        and kept == asked.objects
        and _seen_bits(asked.manifest) == _seen_bits(was.manifest)
    )


def _seen_bits(manifest: Manifest) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Without the folders of objects, which come with objects that nothing names."""
    folders = {p: bits for p, bits in manifest.folders.items() if "/objects/" not in p}
    return folders, manifest.odd


def _by_root(store: ObjectStore, moment: Repositories) -> dict[str, _Repository]:
    entries = store.entries(moment.tree)
    roots = {_root_of(path) for path in [*entries, *moment.manifest.folders]}
    return {
        root: _Repository(
            {path: entry for path, entry in entries.items() if _root_of(path) == root},
            moment.manifest.below(root),
            {path: kept for path, kept in moment.objects.items() if _root_of(path) == root},
        )
        for root in roots
    }


def _root_of(path: str) -> str:
    """The `.git` that a path belongs to."""
    found = _ROOT.match(path)
    return found[0] if found else path


def _is_same(store: ObjectStore, one: _Repository, other: _Repository) -> bool:
    """Whether nothing but what git remembers of files' stats differs; objects do not matter."""
    if one.entries.keys() != other.entries.keys():
        return False
    return all(
        entry == other.entries[path]
        or (path.endswith("/index") and _same_index(store, entry, other.entries[path]))
        for path, entry in one.entries.items()
    )


def _same_index(store: ObjectStore, one: Entry, other: Entry) -> bool:
    try:
        return _staged(store, one) == _staged(store, other)
    except RetraiError:
        return False  # no index, or one in a form that this git does not read


def _staged(store: ObjectStore, entry: Entry) -> str:
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-undo")) as folder:
        index = Path(folder, "index")
        index.write_bytes(store.content(entry))
        return store.run(
            "ls-files", "--stage", "-v", "-z", variables={"GIT_INDEX_FILE": str(index)}
        )


def _without_later_objects(there: _Repository, known: Collection[str]) -> _Repository:
    """What stands there, without objects written since: they may be the user's only copy.

    All packs are in it, since what lies beside them (an index over all) names them.
    """
    objects = {
        path: kept
        for path, kept in there.objects.items()
        if path in known or "/objects/pack/" in path
    }
    return replace(there, objects=objects)


def _can_give(room: Path, asked: _Repository, there: _Repository) -> bool:
    """Whether every object that is missing now was kept, and is as it was."""
    return all(
        _is_intact(room, path, kept[0])
        for path, kept in asked.objects.items()
        if _name(there, path) != kept[0]
    )


def _name(repository: _Repository, path: str) -> str | None:
    """What stands there of the repository's objects; None for nothing."""
    kept = repository.objects.get(path)
    return None if kept is None else kept[0]


def _is_intact(room: Path, path: str, name: str) -> bool:
    """Whether it was kept, and nobody has written to it through the file it is a link of."""
    kept = room / name
    try:
        size = f"{kept.lstat().st_size:x}"
        return bool(name) and size == name.rpartition("-")[2] and is_sound(path, kept)
    except OSError:
        return False


def _put_back(snapshots: Snapshots, project: Path, asked: _Repository, left: _Repository) -> None:
    """Make one repository as it shall be, from how the run left it."""
    folders = asked.manifest.folders
    there = {folder for folder in folders if (project / folder).is_dir()}
    gone = (left.entries.keys() - asked.entries.keys()) | (
        left.objects.keys() - asked.objects.keys()
    )
    for path in gone:
        (project / path).unlink(missing_ok=True)
    remove_folders(project, asked.manifest, left.manifest)
    for path, entry in asked.entries.items():
        if left.entries.get(path) != entry:
            put_entry(project / path, entry, snapshots.content(entry))
            give_bits(project / path, bits_of(asked.manifest, path, entry))
    for path, (name, bits) in asked.objects.items():
        if _name(left, path) != name:
            _give_object(snapshots.objects / name, project / path)
        give_bits(project / path, bits)
    stayed = {
        path: entry for path, entry in asked.entries.items() if left.entries.get(path) == entry
    }
    take_back_bits(project, stayed, asked.manifest, left.manifest)
    take_back_folders(project, asked.manifest, left.manifest, there)


def _give_object(kept: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(kept, target)
    except OSError:  # another file system
        shutil.copy2(kept, target)
