"""A tree of files that a store follows: only what changed since the last time is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

from ..workspace.tree_walk import StatKey
from .object_store import FOLDER, Entry, ObjectStore

_MANY = 100
"""Files beyond which one pack for all, and git's index of it, cost less than a file for each."""


@dataclass
class _Folder:
    """What stands in a folder, by name: git's mode and the object's id."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    folders: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


class StoredTree:
    """One tree; empty at first.

    Args:
        store: keeps the objects.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._folders: defaultdict[str, _Folder] = defaultdict(_Folder)
        self._seen: dict[str, StatKey] = {}
        self._settled_ns = 0
        self._dirty = {""}
        self._id = ""

    def follow(self, files: Mapping[str, StatKey], settled_ns: int) -> str:
        """Bring it to the state of the project; the id of the tree in the store.

        Args:
            files: the keys of its files and symlinks, by relative path.
            settled_ns: a file that changed later than this may change again and keep its key, so
                that it is read the next time too.
        """
        seen, before = self._seen, self._settled_ns
        changed = [
            path
            for path, key in files.items()
            if seen.get(path) != key or key[1] >= before or key[2] >= before
        ]
        for path in seen.keys() - files.keys():
            del seen[path]
            self._put(path, None)
        with self._store.in_one_pack() if len(changed) > _MANY else nullcontext():
            entries = {path: self._store.add_file(path) for path in changed}
        for path, entry in entries.items():
            self._put(path, entry)
            seen[path] = files[path]
        self._settled_ns = settled_ns
        if self._dirty:
            # Cleared only then: what a full disk kept from being written is written the next time.
            self._id = self._write()
            self._dirty.clear()
        return self._id

    def _put(self, path: str, entry: Entry | None) -> None:
        folder, _, name = path.rpartition("/")
        files = self._folders[folder].files
        self._dirty.add(folder)
        if entry is None:
            files.pop(name, None)
        else:
            files[name] = (entry.mode, entry.blob)

    def _write(self) -> str:
        """Write the folders that changed and those above them, the deepest first."""
        waiting: defaultdict[int, set[str]] = defaultdict(set)
        for path in self._dirty:
            waiting[_depth(path)].add(path)
        for depth in range(max(waiting), 0, -1):
            for path in waiting[depth]:
                above, _, name = path.rpartition("/")
                folder = self._folders[path]
                if folder.files or folder.folders:
                    id_ = self._store.add_tree(folder.folders | folder.files)
                    self._folders[above].folders[name] = (FOLDER, id_)
                else:
                    del self._folders[path]
                    self._folders[above].folders.pop(name, None)
                waiting[depth - 1].add(above)
        root = self._folders[""]
        return self._store.add_tree(root.folders | root.files)


def _depth(path: str) -> int:
    return path.count("/") + 1 if path else 0
