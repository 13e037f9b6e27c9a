"""Files outside the project that affect the verdict: the runner's, and what runs before it.

They are saved and restored like the project's protected files. Files that we cannot write are
skipped: the agent has the same rights and cannot change them either.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from ..contracts.goal import Environment
from .files import copy_file, fingerprint, remove
from .refusal import Refusal

ENVIRONMENT = "environment"
_BYTE_CODE = "__pycache__"

_Stat = tuple[int, int, int, int, int]


class _Index(BaseModel):
    """SHA-256 of each saved file's kind and content, by absolute path."""

    files: dict[str, str] = Field(default_factory=dict)
    byte_code: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Seen:
    stat: _Stat | None
    fingerprint: str


class OutsideFiles:
    """Saves an environment's deciding files as they were at the baseline.

    Args:
        folder: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index_file = folder / "index.json"
        self._seen: dict[str, _Seen] = {}
        self._index = self._load()

    def keep(self, environment: Environment) -> None:
        """Hash and copy what is there now."""
        self._index = _Index()
        for path in _writable([*environment.files, *environment.steering]):
            known = self._fingerprint(path)
            if known:
                self._index.files[str(path)] = known
                kept = self._folder / known
                if not kept.is_symlink() and not kept.exists():
                    copy_file(path, kept)
        for path in _byte_code(self._index.files):
            self._index.byte_code[str(path)] = self._fingerprint(path)
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = self._index_file.with_suffix(".new")
        temporary.write_text(self._index.model_dump_json(), encoding="utf-8")
        temporary.replace(self._index_file)

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
            if known and str(path) not in self._index.files and _may_be_removed(path):
                copy_file(path, self._folder / "set_aside" / known[:12] / path.name)
                remove(path)
                undone.append(
                    Refusal(str(path), "new, and would steer the check; it was set aside")
                )
        for path in _byte_code(self._index.files):
            if self._fingerprint(path) != self._index.byte_code.get(str(path)):
                remove(path)
        return undone

    def _load(self) -> _Index:
        if not self._index_file.exists():
            return _Index()
        return _Index.model_validate_json(self._index_file.read_text(encoding="utf-8"))

    def _fingerprint(self, path: Path) -> str:
        """As `fingerprint`, but a file whose stat is the one last seen is not read again."""
        name = str(path)
        now = _stat(path)
        seen = self._seen.get(name)
        if seen is None or seen.stat != now:
            seen = self._seen[name] = _Seen(now, fingerprint(path) if now else "")
        return seen.fingerprint


def drop_copies(baseline: Path) -> None:
    """Remove the copies below a run's `baseline`, ten megabytes and more, once none is needed.

    What was set aside stays: it is nowhere else.
    """
    for path in (baseline / ENVIRONMENT).glob("[0-9a-f]*"):
        with suppress(OSError):
            remove(path)


def _stat(path: Path) -> _Stat | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    # The change time cannot be set by who writes the file.
    return (
        status.st_mode,
        status.st_size,
        status.st_ino,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _writable(paths: Iterable[Path]) -> Iterable[Path]:
    """The paths that somebody with our rights could change."""
    folders: dict[Path, bool] = {}
    for path in dict.fromkeys(paths):
        if path.parent not in folders:
            folders[path.parent] = os.access(path.parent, os.W_OK)
        if folders[path.parent] or os.access(path, os.W_OK):
            yield path


def _may_be_removed(path: Path) -> bool:
    return os.access(path.parent, os.W_OK)


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
