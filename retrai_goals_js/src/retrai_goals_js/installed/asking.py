"""Asks the user's lock files first, and the registry for what they leave open."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from retrai_core import InstalledFiles, WorkspaceError, temporary_prefix

from .archives import Archives
from .lock_files import LOCK_NAMES, LockFile
from .registry import Registry, user_cache
from .vouching import MANIFEST, MAX_MANIFEST_BYTES, Vouching

MAX_LOCKED_ANEW = 5
"""Folders of a project for which a lock file is made."""
_SETTINGS = ".npmrc"
_READ_BY_NPM = (MANIFEST, _SETTINGS, *LOCK_NAMES[:2])


async def vouched(files: InstalledFiles) -> AsyncGenerator[set[str], None]:
    """Which of the files are as the project asks for them: those sure at once, then more.

    Args:
        files: what a run changed.
    """
    project = await asyncio.to_thread(_Project.read, files)
    sure = await asyncio.to_thread(project.vouched)
    yield sure
    room = await asyncio.to_thread(_empty_folder)
    try:
        registry = Registry(files.context.sandbox, room)
        if await project.ask(registry, sure):
            yield await asyncio.to_thread(project.vouched)
    finally:
        await asyncio.to_thread(shutil.rmtree, room, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Project:
    """A project's manifests and lock files, and the archives that are at hand.

    Attributes:
        texts: manifests, lock files and npm's settings by path, as the user had them or lets the
            run change them.
    """

    files: InstalledFiles
    texts: Mapping[str, str]
    locks: list[LockFile]
    archives: Archives

    @classmethod
    def read(cls, files: InstalledFiles) -> _Project:
        texts = _texts(files)
        locks = [
            LockFile(_folder(path), text)
            for path, text in texts.items()
            if PurePosixPath(path).name in LOCK_NAMES
        ]
        root = files.context.project
        single = [root / lock.folder / path for lock in locks for path in lock.local_archives()]
        return cls(files, texts, locks, Archives([user_cache()], single))

    def vouched(self) -> set[str]:
        """What is vouched for with the archives that are at hand now."""
        return self._vouching().vouched(self.files.paths)

    async def ask(self, registry: Registry, known: Collection[str]) -> bool:
        """Fetch what could vouch for the files not in `known`; whether there is anything new."""
        left = [path for path in self.files.paths if path not in known]
        locks_before = len(self.locks)
        for folder in self._without_lock(left)[:MAX_LOCKED_ANEW]:
            lock = await registry.lock(self._manifests(folder), folder)
            if lock is not None:
                self.locks.append(lock)
        missing = await asyncio.to_thread(lambda: self._vouching().missing(left))
        if not missing:
            return len(self.locks) > locks_before
        message = (
            f"asks the npm registry for {len(missing)} packages, to compare them with what was"
            " installed"
        )
        self.files.context.publish("log", level="info", message=message)
        settings = {name: text for name, text in self.texts.items() if name == _SETTINGS}
        await registry.fetch(missing, settings)
        self.archives.fetched = registry.cache
        return True

    def _vouching(self) -> Vouching:
        project, is_changed = self.files.context.project, self.files.changed.__contains__
        return Vouching(project, self.locks, self.archives, is_changed)

    def _without_lock(self, paths: Sequence[str]) -> list[str]:
        """Folders with a manifest, and packages, that no lock file of the user's speaks of."""
        folders = dict.fromkeys(f"/{path}".partition("/node_modules/")[0][1:] for path in paths)
        changed = {_folder(path) for path in self.texts if self.files.may_change(path)}
        return [
            folder
            for folder in folders
            if f"{folder}/{MANIFEST}".lstrip("/") in self.texts
            and (
                folder in changed
                or not any(
                    lock.names_archives and f"{folder}/".startswith(f"{lock.folder}/".lstrip("/"))
                    for lock in self.locks
                )
            )
        ]

    def _manifests(self, folder: str) -> dict[str, str]:
        start = f"{folder}/".lstrip("/")
        return {
            path[len(start) :]: text
            for path, text in self.texts.items()
            if path.startswith(start) and PurePosixPath(path).name in _READ_BY_NPM
        }


def _texts(files: InstalledFiles) -> dict[str, str]:
    """Manifests and lock files of the project as the run found them.

    One that the user lets the run change counts as it is now; but a lock file is no word of the
    user's then, since whoever wrote the package could write its digest.
    """
    found: dict[str, str] = {}
    for path in files.known:
        name = PurePosixPath(path).name
        if name not in (*_READ_BY_NPM, *LOCK_NAMES):
            continue
        text = files.before(path).decode("utf-8", errors="replace")
        if files.may_change(path):
            if name == _SETTINGS:
                found[path] = text  # the registry is the one that the user named
                continue
            now = _read_now(files, path)
            if now != text and name in LOCK_NAMES:
                continue
            text = now
        found[path] = text
    return found


def _read_now(files: InstalledFiles, path: str) -> str:
    """A plain file's text; nothing of a pipe, a device or a link, nor of what is too long."""
    try:
        data = files.context.workspace.read_bytes(path, MAX_MANIFEST_BYTES + 1)
    except WorkspaceError:
        return ""
    return data.decode("utf-8", errors="replace") if len(data) <= MAX_MANIFEST_BYTES else ""


def _empty_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix=temporary_prefix("retrai-installed"))).resolve()


def _folder(path: str) -> str:
    parent = PurePosixPath(path).parent.as_posix()
    return "" if parent == "." else parent
