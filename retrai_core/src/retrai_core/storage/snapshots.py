"""Snapshots of the workspace in the run's own store, never the user's repository.

Works in a project without a git repository, and in one that contains others. Ignored files, caches,
virtual environments and retrai's own folder are excluded. Bytes are stored unchanged.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from ..errors import UsageError
from ..workspace.ignore_rules import RulesReader
from ..workspace.installed import INSTALLED
from ..workspace.tree_hash import CACHE_FOLDERS, SETTLED_NS
from ..workspace.tree_walk import NEVER_WALKED, Listing, walk_tree
from .git_store import Entry, FollowedTree, GitStore
from .left_out import LeftOut
from .lines import append_once, read_lines
from .manifest import Manifest
from .repositories import Repositories, name_in_tree, path_of

_EXCLUDED = NEVER_WALKED | CACHE_FOLDERS | {INSTALLED}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree after `iteration` (0: before the first turn).

    `tree` is the id of a tree of the project's files, `repository_tree` of one of what stands in
    every `.git`, empty where that is not known; `manifest` names what git does not keep of both.
    """

    iteration: int
    tree: str
    manifest: str = ""
    repository_tree: str = ""


class Snapshots:
    """Takes and compares snapshots of the project of one run.

    Args:
        run_dir: the run's folder; the store is `snapshots/` in it.
        project: the folder that is looked at.

    Attributes:
        store: the files and trees.
        repositories: looks at the project's repositories.
    """

    def __init__(self, run_dir: Path, project: Path) -> None:
        root = Path(os.path.realpath(project))
        self.store = GitStore(run_dir / "snapshots")
        self.repositories = Repositories(root, run_dir / "kept_objects")
        self._list = run_dir / "snapshots.jsonl"
        self._manifests = run_dir / "manifests"
        self._project = project
        self._left_out = LeftOut(run_dir / "left_out.json")
        self._tree = FollowedTree(self.store, root)
        self._repository_tree = FollowedTree(self.store, root, name_in_tree)
        self._one_at_a_time = threading.Lock()

    @property
    def available(self) -> bool:
        """Whether snapshots can be taken here: they need the `git` program."""
        return self.store.available

    def take(self, iteration: int, listing: Listing | None = None) -> Snapshot | None:
        """Store the tree as it stands now; None where `available` is false.

        Args:
            iteration: the one that has ended.
            listing: what a walk through the tree has just seen, which saves another one.
        """
        if not self.available:
            return None
        # A cancelled run takes its last snapshot while the thread of another may still be at work.
        with self._one_at_a_time:
            self.store.open()
            if listing is None or not self._left_out.fits(listing):
                listing = self._walk()
            self._left_out.begin(listing)
            seen = self._left_out.taken_from(listing)
            inside = self.repositories.look(seen.repositories)
            self.repositories.keep_objects(inside)
            files = seen.files | inside.files
            modes = {path: key[4] for path, key in files.items() if stat.S_ISREG(key[4])}
            snapshot = Snapshot(
                iteration,
                self._tree.follow(seen.files, seen.began_ns - SETTLED_NS),
                Manifest.of(modes, seen.folders | inside.folders).save(self._manifests),
                self._repository_tree.follow(inside.files, inside.began_ns - SETTLED_NS),
            )
            append_once(self._list, json.dumps(asdict(snapshot)))
        return snapshot

    def all(self) -> list[Snapshot]:
        """Every snapshot so far, oldest first."""
        found: list[Snapshot] = []
        for line in read_lines(self._list)[0]:
            try:
                entry = cast("Mapping[str, object]", json.loads(line))
            except ValueError:
                continue  # a line that a kill left half written
            names = (str(entry.get(name, "")) for name in ("manifest", "repository_tree"))
            found.append(Snapshot(int(str(entry["iteration"])), str(entry["tree"]), *names))
        return found

    def at(self, iteration: int) -> Snapshot:
        """The tree as it stood after `iteration`.

        Raises:
            UsageError: the run has no snapshot that early.
        """
        fitting = [snapshot for snapshot in self.all() if snapshot.iteration <= iteration]
        if not fitting:
            raise UsageError(f"this run has no snapshot at iteration {iteration}")
        return fitting[-1]

    def entries(self, snapshot: Snapshot) -> dict[str, Entry]:
        """Every file and symlink of the snapshot, by relative path."""
        return self.store.entries(snapshot.tree)

    def manifest(self, snapshot: Snapshot) -> Manifest:
        """What git does not keep of the snapshot."""
        return Manifest.load(self._manifests, snapshot.manifest)

    def repository_entries(self, snapshot: Snapshot) -> dict[str, Entry]:
        """Every file and symlink in a `.git` but objects, by relative path."""
        inside = self.store.entries(snapshot.repository_tree)
        return {path_of(name): entry for name, entry in inside.items()}

    def content(self, entry: Entry) -> bytes:
        """The bytes of a file, or the target of a symlink."""
        with self.store.reading() as read:
            return read(entry)

    def changed_files(self) -> list[str]:
        """Relative paths that differ between the first and the last snapshot, sorted.

        Bytes of a name that are not UTF-8 are written as `\\xe9`.
        """
        ends = self._ends()
        if ends is None:
            return []
        options = ("--name-only", "--no-renames", "-z")
        names = self.store.run("diff", *options, ends[0].tree, ends[1].tree)
        return sorted(_printable(name) for name in names.split("\0") if name)

    def diff(
        self, first: int | None = None, last: int | None = None, *, find_copies: bool = False
    ) -> str:
        """A unified diff of what the run changed between two iterations; all of it by default.

        Bytes that are not UTF-8 are in it as surrogate escapes, so that it can be applied.

        Args:
            first, last: the iterations.
            find_copies: a new file most of whose lines stood in one file before has only what is
                different.

        Raises:
            UsageError: git is not there, or there is no such snapshot.
        """
        if not self.available:
            raise UsageError("`git` is not installed", hint="install git to see what a run changed")
        ends = self._ends()
        if ends is None:
            return ""
        start = ends[0] if first is None else self.at(first)
        end = ends[1] if last is None else self.at(last)
        options = ["--no-color", "--no-ext-diff", "--no-textconv"]
        options += ["--find-copies-harder"] if find_copies else []
        return self.store.run("diff", *options, start.tree, end.tree)

    def _ends(self) -> tuple[Snapshot, Snapshot] | None:
        every = self.all()
        return (every[0], every[-1]) if every and self.available else None

    def _walk(self) -> Listing:
        listing, rules = Listing(), self._left_out.rules
        for _ in walk_tree(
            self._project, ".", reader=RulesReader(rules), skip=_EXCLUDED, listing=listing
        ):
            pass
        return listing


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
