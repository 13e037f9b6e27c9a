"""Hashes the project's files, to detect steps that changed nothing."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..errors import WorkspaceError
from .beneath import open_file, reach
from .ignore_rules import RulesReader
from .tree_walk import NEVER_WALKED, Listing, StatKey, WalkedFile, walk_tree

CACHE_FOLDERS = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders that tools fill while they look at a project; nothing in them is the project's."""

SETTLED_NS = 2_000_000_000
"""A file that changed less than this before it was hashed is hashed again the next time: file
times move in steps (2 s on the coarsest file system), and two writes can fall into one step."""


@dataclass(frozen=True, slots=True)
class FileState:
    """One file: `kind` is `f`, `x` (executable), `l` (symlink) or `o`; `digest` its content's."""

    kind: str
    digest: str


@dataclass(frozen=True)
class TreeState:
    """The working tree at one moment.

    Attributes:
        files: every file that no `.gitignore` names, by path.
        ignored: digest over path, size, mode and time of those that one does (a virtual
            environment, say); their content is not read.
        listing: what the walk saw, for a snapshot of the same tree.
    """

    files: Mapping[str, FileState]
    ignored: str
    listing: Listing = field(default_factory=Listing, compare=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """One hash of everything in this state, in hexadecimal."""
        whole = hashlib.sha256(self.ignored.encode())
        for path, state in sorted(self.files.items()):
            whole.update(os.fsencode(path) + b"\0" + f"{state.kind}{state.digest}\n".encode())
        return whole.hexdigest()

    def without(self, paths: Collection[str]) -> TreeState:
        """The same tree, as if these files were not there."""
        kept = {path: state for path, state in self.files.items() if path not in paths}
        return self if len(kept) == len(self.files) else TreeState(kept, self.ignored, self.listing)


@dataclass(frozen=True, slots=True)
class _Known:
    key: StatKey
    state: FileState
    hashed_ns: int


class TreeHasher:
    """Takes states of one tree, and reads only files whose stat changed.

    Not for several threads at once.

    Args:
        root: the project.
        skip: names that are left out wherever they stand, beside version control, `.retrai` and
            the caches of Python's tools.
    """

    def __init__(self, root: Path, skip: frozenset[str] = frozenset()) -> None:
        self.root = Path(os.path.realpath(root))
        self._skip = NEVER_WALKED | CACHE_FOLDERS | skip
        self._rules = RulesReader()
        self._known: dict[str, _Known] = {}

    def state(self, unwatched: Collection[str] = (), *, with_ignored: bool = True) -> TreeState:
        """The tree as it is; reads files, so call it in a thread.

        Args:
            unwatched: ignored files whose change is none.
            with_ignored: look at ignored files too, which may be very many.
        """
        files: dict[str, FileState] = {}
        ignored = hashlib.sha256()
        known: dict[str, _Known] = {}
        listing = Listing()
        for found in walk_tree(
            self.root,
            ".",
            reader=self._rules,
            with_ignored=with_ignored,
            skip=self._skip,
            listing=listing,
        ):
            if found.ignored:
                if found.path not in unwatched:
                    ignored.update(_stat_line(found))
                continue
            key = listing.files[found.path]
            entry = self._known.get(found.path)
            if entry is None or entry.key != key or not _settled(entry):
                entry = self._read(found, key)
            if entry is not None:
                known[found.path] = entry
                files[found.path] = entry.state
        self._known = known
        return TreeState(files, ignored.hexdigest(), listing)

    def _read(self, found: WalkedFile, key: StatKey) -> _Known | None:
        now_ns = time.time_ns()
        try:
            return _Known(key, _file_state(self.root, found), now_ns)
        except FileNotFoundError:
            return None
        except WorkspaceError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None  # a folder above it went away meanwhile
            raise


def _settled(known: _Known) -> bool:
    changed_ns = max(known.key[1], known.key[2])
    return changed_ns < known.hashed_ns - SETTLED_NS


def _stat_line(found: WalkedFile) -> bytes:
    status = found.stat
    line = f"\0{status.st_size} {status.st_mtime_ns} {status.st_mode:o}\n"
    return os.fsencode(found.path) + line.encode()


def _file_state(root: Path, found: WalkedFile) -> FileState:
    mode = found.stat.st_mode
    with reach(root, found.path, follow_last=False) as place:
        if stat.S_ISLNK(mode):
            target = os.readlink(place.name, dir_fd=place.folder)
            return FileState("l", hashlib.sha256(os.fsencode(target)).hexdigest())
        if not stat.S_ISREG(mode):
            return FileState("o", f"{stat.S_IFMT(mode):o}")
        kind = "x" if mode & 0o111 else "f"
        try:
            with open_file(place.folder, place.name) as file:
                return FileState(kind, hashlib.file_digest(file, "sha256").hexdigest())
        except PermissionError:
            return FileState(kind, "unreadable")
