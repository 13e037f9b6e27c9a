"""Files outside the project that affect the verdict: the runner's, and what runs before it.

They are saved and restored like the project's protected files. Files that we cannot write are
skipped: the agent has the same rights and cannot change them either.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, Field

from ..contracts.goal import Environment
from ..workspace.atomic_write import replace_file
from ..workspace.tree_walk import StatKey, stat_key
from .files import copy_file, fingerprint, remove
from .refusal import Refusal
from .restore import back_up

ENVIRONMENT = "environment"
_BYTE_CODE = "__pycache__"


class _Index(BaseModel):
    """SHA-256 of each saved file's kind and content, by absolute path."""

    files: dict[str, str] = Field(default_factory=dict)
    byte_code: dict[str, str] = Field(default_factory=dict)


class OutsideFiles:
    """Saves an environment's deciding files as they were at the baseline.

    Args:
        folder: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index_file = folder / "index.json"
        self._seen: dict[str, tuple[StatKey, str]] = {}
        self._index = _Index()
        if self._index_file.exists():
            self._index = _Index.model_validate_json(self._index_file.read_text(encoding="utf-8"))

    def keep(self, environment: Environment) -> None:
        """Hash and copy what is there now."""
        self._index = _Index()
        for path in dict.fromkeys([*environment.files, *environment.steering]):
            # Somebody with our rights could change it.
            is_writable = os.access(path.parent, os.W_OK) or os.access(path, os.W_OK)
            if is_writable and (known := self._fingerprint(path)):
                self._index.files[str(path)] = known
                kept = self._folder / known
                if not kept.is_symlink() and not kept.exists():
                    copy_file(path, kept)
        for path in _byte_code(self._index.files):
            self._index.byte_code[str(path)] = self._fingerprint(path)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._index_file, self._index.model_dump_json().encode())

    def changed(self) -> list[str]:
        """Kept files that are not what they were, sorted."""
        kept = self._index.files.items()
        return sorted(path for path, known in kept if self._fingerprint(Path(path)) != known)

    def restore(self, environment: Environment) -> list[Refusal]:
        """Put changed files back and set new steering ones aside; what was undone.

        Byte code of these files that was made or changed since is removed without a word: who runs
        the tests makes some, and Python makes it again.
        """
        undone: list[Refusal] = []
        for path in self.changed():
            for parent in reversed(Path(path).parents):
                if parent.exists() and not parent.is_dir():
                    remove(parent)
            remove(Path(path))
            copy_file(self._folder / self._index.files[path], Path(path))
            undone.append(Refusal(path, "changed, but it runs the check; it was put back"))
        for path in environment.steering:
            known = self._fingerprint(path)
            is_new = known and str(path) not in self._index.files
            if is_new and os.access(path.parent, os.W_OK):
                back_up(self._folder, path, path.name)
                remove(path)
                undone.append(
                    Refusal(str(path), "new, and would steer the check; it was set aside")
                )
        for path in _byte_code(self._index.files):
            if self._fingerprint(path) != self._index.byte_code.get(str(path)):
                remove(path)
        return undone

    def _fingerprint(self, path: Path) -> str:
        """As `fingerprint`, but a file whose stat is the one last seen is not read again."""
        try:
            now = stat_key(path.lstat())
        except OSError:
            return ""
        seen, known = self._seen.get(str(path), (None, ""))
        if seen != now:
            known = fingerprint(path)
            self._seen[str(path)] = (now, known)
        return known


def drop_copies(baseline: Path) -> None:
    """Remove the copies below a run's `baseline`, ten megabytes and more, once none is needed.

    What was set aside stays: it is nowhere else.
    """
    for path in (baseline / ENVIRONMENT).glob("[0-9a-f]*"):
        with suppress(OSError):
            remove(path)


def _byte_code(files: Iterable[str]) -> Iterable[Path]:
    """Compiled files beside the sources among `files`."""
    stems: dict[str, set[str]] = {}
    for path in files:
        if path.endswith(".py"):
            folder, name = os.path.split(path)
            stems.setdefault(folder, set()).add(name[:-3])
    for folder, names in sorted(stems.items()):
        cache = os.path.join(folder, _BYTE_CODE)
        try:
            found = os.listdir(cache)
        except OSError:
            continue  # none was made yet
        yield from (Path(cache, name) for name in found if name.split(".", 1)[0] in names)
