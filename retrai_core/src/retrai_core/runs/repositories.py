"""The `.git` folders of a project: the state of its own repository and of those inside it.

git refuses to keep a path with `.git` in it, and most of what lies there needs no copy: git never
changes an object once it is written, so objects are kept as hard links (as `git clone` of a folder
does), and only the rest, HEAD, refs, logs, the index and the configuration, is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..errors import WorkspaceError
from ..workspace.beneath import reach
from ..workspace.tree_hash import SETTLED_NS
from ..workspace.tree_walk import Listing, StatKey, open_folder, stat_key
from .manifest import Manifest
from .object_store import ObjectStore
from .stored_tree import StoredTree

COPY_LIMIT_BYTES = 64 * 1024 * 1024
"""Of objects that cannot be linked (another file system) at most so many bytes are copied."""

_OBJECT_FOLDER = re.compile(
    r"(?:^|/)(?:objects/(?:[0-9a-f]{2}|pack)|lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}|annex/objects/.+)$"
)
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

KeptObject = tuple[str, int]
"""An object's name in the run's folder, empty where it could not be kept, and its bits."""


@dataclass(frozen=True)
class Repositories:
    """Every `.git` of a project at one moment; paths are relative to the project.

    Attributes:
        tree: the id of a tree in the store with all files but the objects; empty for none.
        manifest: their permission bits, and the folders.
        objects: the files that git never changes.
    """

    tree: str = ""
    manifest: Manifest = field(default_factory=Manifest)
    objects: Mapping[str, KeptObject] = field(default_factory=dict[str, KeptObject])

    def save(self, room: Path) -> str:
        """Keep it in a folder, once for all that are the same; its name there."""
        known = {"tree": self.tree, "manifest": self.manifest.save(room), "objects": self.objects}
        data = json.dumps(known, sort_keys=True).encode()
        name = f"git-{hashlib.sha256(data).hexdigest()[:32]}"
        path = room / f"{name}.json"
        if not path.exists():
            temporary = path.with_suffix(".new")
            temporary.write_bytes(data)
            temporary.replace(path)
        return name

    @classmethod
    def load(cls, room: Path, name: str) -> Repositories | None:
        """Read it back; None where nothing is known of that moment."""
        try:
            data = cast("dict[str, Any]", json.loads((room / f"{name}.json").read_bytes()))
            objects = {
                path: (str(kept), int(bits)) for path, (kept, bits) in data["objects"].items()
            }
            return cls(data["tree"], Manifest.load(room, data["manifest"]), objects)
        except (OSError, ValueError, KeyError):
            return None


class RepositoryReader:
    """Looks at the repositories of one project again and again, and keeps what changed.

    Args:
        project: the folder they are in.
        store: keeps everything but objects.
        room: a folder for the objects.
    """

    def __init__(self, project: Path, store: ObjectStore, room: Path) -> None:
        self._root = Path(os.path.realpath(project))
        self._room = room
        self._tree = StoredTree(store)
        self._known: dict[str, tuple[StatKey, dict[str, KeptObject]]] = {}
        self._settled_ns = 0
        self._copied_bytes = 0
        self._last = Repositories()

    def read(self, paths: Iterable[str]) -> Repositories:
        """Their state now; the very object of the last time where nothing has changed.

        Args:
            paths: of every `.git`; one that is not there counts for nothing.
        """
        found = Listing()
        objects: dict[str, KeptObject] = {}
        self._room.mkdir(exist_ok=True)
        for path in sorted(paths):
            try:
                with reach(self._root, path, follow_last=False) as place:
                    status = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    found.files[path] = stat_key(status)
                    continue
                handle = open_folder(self._root, path)
            except (OSError, WorkspaceError):
                continue
            self._look(handle, path, status, found, objects)
        self._settled_ns = found.began_ns - SETTLED_NS
        modes = {path: key[4] for path, key in found.files.items() if stat.S_ISREG(key[4])}
        tree = self._tree.follow(found.files, self._settled_ns)
        state = Repositories(tree, Manifest.of(modes, found.folders), objects)
        if state != self._last:
            self._last = state
        return self._last

    def _look(
        self,
        handle: int,
        path: str,
        status: os.stat_result,
        found: Listing,
        objects: dict[str, KeptObject],
    ) -> None:
        """Note what stands in a folder, and below it; closes `handle`."""
        found.folders[path] = status.st_mode
        holds_objects = _OBJECT_FOLDER.search(path) is not None
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    below = f"{path}/{entry.name}"
                    try:
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISDIR(status.st_mode):
                            self._enter(handle, entry.name, below, status, found, objects)
                        elif not holds_objects or not stat.S_ISREG(status.st_mode):
                            if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                                found.files[below] = stat_key(status)
                        else:
                            bits = stat.S_IMODE(status.st_mode)
                            objects[below] = (self._keep(handle, entry.name, status), bits)
                    except FileNotFoundError:
                        continue  # it went away meanwhile
        finally:
            os.close(handle)

    def _enter(
        self,
        above: int,
        name: str,
        path: str,
        status: os.stat_result,
        found: Listing,
        objects: dict[str, KeptObject],
    ) -> None:
        key = stat_key(status)
        known = self._known.get(path)
        if known is not None and known[0] == key and max(key[1], key[2]) < self._settled_ns:
            # Nothing was added to it or taken from it, and objects do not change.
            found.folders[path] = status.st_mode
            objects.update(known[1])
            return
        try:
            handle = os.open(name, _FOLDER_FLAGS, dir_fd=above)
        except OSError:
            return
        inside: dict[str, KeptObject] = {}
        folders = len(found.folders)
        self._look(handle, path, status, found, inside)
        objects.update(inside)
        if _OBJECT_FOLDER.search(path) and len(found.folders) == folders + 1:
            self._known[path] = (key, inside)

    def _keep(self, folder: int, name: str, status: os.stat_result) -> str:
        """Keep an object; its name, by which it is told from another one in the same place."""
        kept = kept_name(name, status)
        place = self._room / kept
        if place.exists():
            return kept
        try:
            os.link(name, place, src_dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            raise
        except OSError:  # another file system, or another user's file
            if self._copied_bytes + status.st_size > COPY_LIMIT_BYTES:
                return ""
            self._copied_bytes += status.st_size
            try:
                _copy(folder, name, place)
            except OSError:
                return ""
        return kept


def kept_name(name: str, status: os.stat_result) -> str:
    """The name under which an object is kept.

    git names an object by its content, and may give one that is written again a new time. An inode
    is not given to another file while it is linked.
    """
    return f"{name[:200]}-{status.st_ino:x}-{status.st_size:x}"


def _copy(folder: int, name: str, place: Path) -> None:
    temporary = place.with_name("incoming")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as source, temporary.open("wb") as target:
        shutil.copyfileobj(source, target)
    temporary.replace(place)
