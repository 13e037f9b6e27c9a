"""Snapshots of the workspace as git objects in the run's own store, never the user's repository.

Works in a project that is no git repository, and in one that holds others. What `.gitignore` names,
caches and retrai's own folder are left out. Line endings and filters are off, so that bytes are
stored as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from ..errors import RetraiError, UsageError
from ..workspace.ignore_rules import RulesReader
from ..workspace.tree_hash import CACHE_FOLDERS, SETTLED_NS
from ..workspace.tree_walk import NEVER_WALKED, WalkedFile, walk_tree
from .manifest import Manifest

_EXCLUDED = NEVER_WALKED | CACHE_FOLDERS | {"node_modules"}
_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree after `iteration` (0: before the first turn).

    `tree` is a git tree id, `manifest` the name of what git does not keep of it.
    """

    iteration: int
    tree: str
    manifest: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a snapshot: git's mode (100644, 100755 executable, 120000 symlink) and blob id."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """A file, and no symlink."""
        return self.mode.startswith("100")


class Snapshots:
    """Takes and compares snapshots of one run's project.

    Args:
        run_dir: the run's folder; the store is `snapshots/` in it.
        project: the folder that is looked at.
    """

    def __init__(self, run_dir: Path, project: Path) -> None:
        self._store = run_dir / "snapshots"
        self._list = run_dir / "snapshots.jsonl"
        self._manifests = run_dir / "manifests"
        self._project = project
        self._git = shutil.which("git")
        self._rules_file = run_dir / "ignore_rules.json"
        self._rules = self._first_rules()
        self._stored: set[str] | None = None
        self._seen: dict[str, tuple[int, ...]] = {}
        self._settled_ns = 0
        self._one_at_a_time = threading.Lock()

    @property
    def available(self) -> bool:
        """Whether snapshots can be taken here: they need the `git` program."""
        return self._git is not None

    def take(self, iteration: int) -> Snapshot | None:
        """Store the tree as it stands now; None where `available` is false."""
        if not self.available:
            return None
        # A cancelled run takes its last snapshot while the thread of another may still be at work.
        with self._one_at_a_time:
            if self._stored is None:
                self._stored = self._open_store()
            manifest = self._update(self._stored)
            if not self._rules_file.exists():
                self._rules_file.write_text(json.dumps(self._rules.texts()), encoding="utf-8")
                self._rules = self._first_rules()
            tree = self._run("write-tree").strip()
            snapshot = Snapshot(iteration, tree, manifest.save(self._manifests))
            with self._list.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(snapshot)) + "\n")
        return snapshot

    def all(self) -> list[Snapshot]:
        """Every snapshot so far, oldest first."""
        if not self._list.exists():
            return []
        found: list[Snapshot] = []
        for line in self._list.read_text(encoding="utf-8").splitlines():
            try:
                entry = cast("Mapping[str, object]", json.loads(line))
            except ValueError:
                continue  # a line that a kill left half written
            manifest = str(entry.get("manifest", ""))
            found.append(Snapshot(int(str(entry["iteration"])), str(entry["tree"]), manifest))
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
        found: dict[str, Entry] = {}
        for line in self._run("ls-tree", "-r", "-z", snapshot.tree).split("\0"):
            if line:
                about, _, path = line.partition("\t")
                mode, _, blob = about.split(" ")
                found[path] = Entry(mode, blob)
        return found

    def manifest(self, snapshot: Snapshot) -> Manifest:
        """What git does not keep of the snapshot."""
        return Manifest.load(self._manifests, snapshot.manifest)

    def content(self, entry: Entry) -> bytes:
        """The bytes of a file, or the target of a symlink."""
        return self._run("cat-file", "blob", entry.blob).encode(errors="surrogateescape")

    def changed_files(self) -> list[str]:
        """Relative paths that differ between the first and the last snapshot, sorted.

        Bytes of a name that are not UTF-8 are written as `\\xe9`.
        """
        ends = self._ends()
        if ends is None:
            return []
        options = ("--name-only", "--no-renames", "-z")
        names = self._run("diff", *options, ends[0].tree, ends[1].tree)
        return sorted(_printable(name) for name in names.split("\0") if name)

    def diff(self, first: int | None = None, last: int | None = None) -> str:
        """A unified diff of what the run changed between two iterations; all of it by default.

        Bytes that are not UTF-8 are in it as surrogate escapes, so that it can be applied.

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
        return self._run(
            "diff", "--no-color", "--no-ext-diff", "--no-textconv", start.tree, end.tree
        )

    def _first_rules(self) -> RulesReader:
        """The project's ignore rules as they stood at the first snapshot.

        What the run adds to a `.gitignore` must not hide what else it adds.
        """
        if not self._rules_file.exists():
            return RulesReader()
        texts = json.loads(self._rules_file.read_text(encoding="utf-8"))
        return RulesReader(cast("Mapping[str, str]", texts))

    def _ends(self) -> tuple[Snapshot, Snapshot] | None:
        every = self.all()
        return (every[0], every[-1]) if every and self.available else None

    def _open_store(self) -> set[str]:
        """Make the store, or mend one that a kill left locked; the paths in its index."""
        if not self._store.is_dir():
            self._run("init", "--quiet", "--bare", "--template=", str(self._store), in_store=False)
            info = self._store / "info"
            info.mkdir()
            # Wins over the project's own .gitattributes: bytes go in and come out as they are.
            attributes = "* -text -filter -ident -working-tree-encoding !diff\n"
            (info / "attributes").write_text(attributes, encoding="utf-8")
        # One run at a time writes here, so a lock can only be that of a killed process.
        (self._store / "index.lock").unlink(missing_ok=True)
        if self._list.exists() and not self._list.read_bytes().endswith(b"\n"):
            with self._list.open("a", encoding="utf-8") as file:
                file.write("\n")
        return {path for path in self._run("ls-files", "-z").split("\0") if path}

    def _update(self, stored: set[str]) -> Manifest:
        """Bring the index to the state of the tree; what it does not keep of it.

        Path by path and not with `git add`, which takes a repository in the project for a
        submodule: it stores none of its files, and fails when it has no commit yet.
        """
        folders: dict[str, int] = {}
        modes: dict[str, int] = {}
        there: set[str] = set()
        changed: dict[str, tuple[int, ...]] = {}
        began_ns = time.time_ns()
        for found in walk_tree(
            self._project,
            ".",
            reader=self._rules,
            skip=_EXCLUDED,
            folders=folders,
            # By what they hold and not by name: source in a folder `venv` is in the clean copy.
            environments=False,
        ):
            key = _stat_key(found)
            if not self._is_as_stored(found.path, key):
                if not self._can_store(found):
                    continue
                changed[found.path] = key
            there.add(found.path)
            if stat.S_ISREG(found.stat.st_mode):
                modes[found.path] = found.stat.st_mode
        gone = stored - there
        if gone:
            self._run("update-index", "-z", "--force-remove", "--stdin", paths=gone)
        options = ("--add", "--remove", "--replace")
        if changed:
            self._run("update-index", "-z", *options, "--stdin", paths=changed)
        for path in gone:
            self._seen.pop(path, None)
        self._seen.update(changed)
        self._settled_ns = began_ns - SETTLED_NS
        stored.clear()
        stored.update(there)
        return Manifest.of(modes, folders)

    def _is_as_stored(self, path: str, key: tuple[int, ...]) -> bool:
        """Whether git has the file as it is, by its stat; one that changed just now is read."""
        return self._seen.get(path) == key and max(key[1], key[2]) < self._settled_ns

    def _can_store(self, found: WalkedFile) -> bool:
        mode = found.stat.st_mode
        if stat.S_ISLNK(mode):
            return True
        return stat.S_ISREG(mode) and os.access(self._project / found.path, os.R_OK)

    def _run(self, *args: str, in_store: bool = True, paths: Iterable[str] = ()) -> str:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        env = kept | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C.UTF-8",
        }
        settings = ["core.autocrlf=false", "core.safecrlf=false", "core.fileMode=true"]
        settings += ["core.excludesFile=/dev/null", "core.symlinks=true"]
        settings += ["core.quotePath=false", "core.bare=false", "gc.auto=0"]
        command = [str(self._git)]
        for setting in settings:
            command += ["-c", setting]
        if in_store:
            command += [f"--git-dir={self._store}", f"--work-tree={self._project}"]
        try:
            done = subprocess.run(  # our own git, our own store: not the agent's command
                [*command, *args],
                cwd=self._project,
                env=env,
                input=b"".join(os.fsencode(path) + b"\0" for path in sorted(paths)),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                start_new_session=True,  # Ctrl-C on the terminal is retrai's, not git's
            )
        except subprocess.TimeoutExpired as error:
            raise RetraiError(f"git {args[0]} took longer than {_TIMEOUT_S} s") from error
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise RetraiError(f"git {args[0]} failed: {message[-1] if message else 'no message'}")
        return done.stdout.decode(errors="surrogateescape")


def _stat_key(found: WalkedFile) -> tuple[int, ...]:
    status = found.stat
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_size, *times, status.st_ino, status.st_mode)


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
