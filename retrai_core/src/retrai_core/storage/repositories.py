"""The `.git` folders of a project: of its own repository and of those inside it.

git stores no path with `.git` in it, so they have other names in the stored tree. Objects may be
large, but git never changes them: they are stored as hard links, as by `git clone` of a folder.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..workspace.owners import give_to_owner_of_folder, make_folders
from ..workspace.tree_walk import Listing, StatKey, stat_key

COPY_LIMIT_BYTES = 64 * 1024 * 1024
"""Of objects that cannot be linked (another file system) at most so many bytes are copied."""

_OBJECT_FOLDER = re.compile(
    r"(?:^|/)(?:objects/(?:[0-9a-f]{2}|pack)|lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}|annex/objects/.+)$"
)
_ROOT = re.compile(r"(?:^|.*?/)\.git(?=/|$)")


def name_in_tree(path: str) -> str:
    """How a path is called where git accepts no `.git`: `_a/_.git/_HEAD`."""
    return re.sub(r"(^|/)", r"\1_", path)


def path_of(name: str) -> str:
    """The path that has this name in a tree."""
    return re.sub(r"(^|/)_", r"\1", name)


def root_of(path: str) -> str:
    """The `.git` that a path belongs to; empty for none."""
    found = _ROOT.match(path)
    return found[0] if found else ""


class Repositories:
    """Reads the repositories of one project, and stores their objects.

    Args:
        project: the folder that they are in, with no symlink in its path.
        kept: a folder for the objects.
    """

    def __init__(self, project: Path, kept: Path) -> None:
        self._project = project
        self._kept = kept
        self._seen: Mapping[str, StatKey] = {}
        self._copied_bytes = 0

    def look(self, paths: Iterable[str]) -> Listing:
        """What stands in them now, without the objects and their folders.

        Args:
            paths: of every `.git`, a folder or a file; one that is not there counts for nothing.
        """
        found = Listing()
        for path in sorted(paths):
            with suppress(OSError):
                self._note(path, (self._project / path).lstat(), found)
        return found

    def keep_objects(self, seen: Listing) -> None:
        """Keep the objects of each repository in which something changed since the last time."""
        changed = {path for path, key in seen.files.items() if self._seen.get(path) != key}
        for root in {root_of(path) for path in changed} & seen.folders.keys():
            for folder in self._object_folders(root, self._project):
                kept = self._kept / os.path.relpath(folder, self._project)
                kept.mkdir(parents=True, exist_ok=True)
                known = set(os.listdir(kept))
                with suppress(OSError), os.scandir(folder) as objects:
                    for each in objects:
                        if each.name not in known and each.is_file(follow_symlinks=False):
                            self._store_object(each, kept / each.name)
        self._seen = seen.files

    def missing_objects(self, root: str) -> dict[Path, Path | None]:
        """Where objects of a repository stood that are gone, and where each is kept, if it is."""
        missing: dict[Path, Path | None] = {}
        for folder in self._object_folders(root, self._kept):
            for kept in Path(folder).iterdir():
                place = self._project / kept.relative_to(self._kept)
                if not os.path.lexists(place):
                    missing[place] = kept if kept.stat().st_size else None
        return missing

    def _note(self, path: str, status: os.stat_result, found: Listing) -> None:
        if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            found.files[path] = stat_key(status)
        elif stat.S_ISDIR(status.st_mode) and not _OBJECT_FOLDER.search(path):
            found.folders[path] = status.st_mode
            with suppress(OSError), os.scandir(self._project / path) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):  # it went away meanwhile
                        self._note(f"{path}/{entry.name}", entry.stat(follow_symlinks=False), found)

    def _object_folders(self, root: str, above: Path) -> Iterator[str]:
        for folder, _, _ in os.walk(above / root):
            if _OBJECT_FOLDER.search(os.path.relpath(folder, above)):
                yield folder

    def _store_object(self, found: os.DirEntry[str], kept: Path) -> None:
        """Link or copy an object; an empty file stands for one that is too large to be copied."""
        with suppress(FileNotFoundError):  # it went away meanwhile
            try:
                os.link(found.path, kept, follow_symlinks=False)
            except FileNotFoundError:
                raise
            except OSError:  # another file system, or another user's file
                size = found.stat(follow_symlinks=False).st_size
                if self._copied_bytes + size > COPY_LIMIT_BYTES:
                    kept.touch()
                    return
                self._copied_bytes += size
                temporary = self._kept / "incoming"
                with suppress(PermissionError):
                    shutil.copy2(found.path, temporary, follow_symlinks=False)
                    temporary.replace(kept)


def give_object(kept: Path, place: Path) -> None:
    """Put an object back where it stood."""
    make_folders(place.parent)
    try:
        os.link(kept, place)
    except OSError:  # another file system
        shutil.copy2(kept, place)
        give_to_owner_of_folder(place, place.parent)
