"""Snapshots of the workspace as git objects in the run's own store, never the user's repository.

Works in a project that is no git repository. What `.gitignore` names, caches and retrai's own
folder are left out. Line endings and filters are off, so that bytes are stored as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ..errors import RetraiError, UsageError

_EXCLUDED = (
    "__pycache__/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".retrai/",
    ".venv/",
    "venv/",
    "node_modules/",
)
_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree after `iteration` (0: before the first turn); `tree` is a git tree id."""

    iteration: int
    tree: str


class Snapshots:
    """Takes and compares snapshots of one run's project.

    Args:
        run_dir: the run's folder; the store is `snapshots/` in it.
        project: the folder that is looked at.
    """

    def __init__(self, run_dir: Path, project: Path) -> None:
        self._store = run_dir / "snapshots"
        self._list = run_dir / "snapshots.jsonl"
        self._project = project
        self._git = shutil.which("git")

    @property
    def available(self) -> bool:
        """Whether snapshots can be taken here: they need the `git` program."""
        return self._git is not None

    def take(self, iteration: int) -> Snapshot | None:
        """Store the tree as it stands now; None where `available` is false."""
        if not self.available:
            return None
        if not self._store.is_dir():
            self._make_store()
        self._run("add", "--all", "--", ".")
        snapshot = Snapshot(iteration, self._run("write-tree").strip())
        with self._list.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"iteration": iteration, "tree": snapshot.tree}) + "\n")
        return snapshot

    def all(self) -> list[Snapshot]:
        """Every snapshot so far, oldest first."""
        if not self._list.exists():
            return []
        lines = self._list.read_text(encoding="utf-8").splitlines()
        entries = [cast("Mapping[str, object]", json.loads(line)) for line in lines if line]
        return [Snapshot(int(str(entry["iteration"])), str(entry["tree"])) for entry in entries]

    def at(self, iteration: int) -> Snapshot:
        """The tree as it stood after `iteration`.

        Raises:
            UsageError: the run has no snapshot that early.
        """
        fitting = [snapshot for snapshot in self.all() if snapshot.iteration <= iteration]
        if not fitting:
            raise UsageError(f"this run has no snapshot at iteration {iteration}")
        return fitting[-1]

    def changed_files(self) -> list[str]:
        """Relative paths that differ between the first and the last snapshot, sorted."""
        ends = self._ends()
        if ends is None:
            return []
        names = self._run("diff", "--name-only", "-z", ends[0].tree, ends[1].tree)
        return sorted(name for name in names.split("\0") if name)

    def diff(self, first: int | None = None, last: int | None = None) -> str:
        """A unified diff of what the run changed between two iterations; all of it by default.

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
        return self._run("diff", "--no-color", "--no-ext-diff", start.tree, end.tree)

    def _ends(self) -> tuple[Snapshot, Snapshot] | None:
        every = self.all()
        return (every[0], every[-1]) if every and self.available else None

    def _make_store(self) -> None:
        self._run("init", "--quiet", "--bare", str(self._store), in_store=False)
        info = self._store / "info"
        info.mkdir(exist_ok=True)
        (info / "exclude").write_text("\n".join(_EXCLUDED) + "\n", encoding="utf-8")
        # Wins over the project's own .gitattributes: bytes go in and come out as they are.
        attributes = "* -text -filter -ident -working-tree-encoding\n"
        (info / "attributes").write_text(attributes, encoding="utf-8")

    def _run(self, *args: str, in_store: bool = True) -> str:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        env = kept | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C.UTF-8",
        }
        settings = ["core.autocrlf=false", "core.safecrlf=false", "core.fileMode=true"]
        settings += ["core.excludesFile=/dev/null", "advice.addEmbeddedRepo=false"]
        settings += ["core.quotePath=false", "core.bare=false", "gc.auto=0"]
        command = [str(self._git)]
        for setting in settings:
            command += ["-c", setting]
        if in_store:
            command += [f"--git-dir={self._store}", f"--work-tree={self._project}"]
        done = subprocess.run(  # our own git, our own store: not the agent's command
            [*command, *args],
            cwd=self._project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise RetraiError(f"git {args[0]} failed: {message[-1] if message else 'no message'}")
        return done.stdout.decode(errors="surrogateescape")
