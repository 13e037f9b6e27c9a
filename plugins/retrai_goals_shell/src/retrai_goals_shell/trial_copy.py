"""One copy of a project for several trials, brought back between them to what it was."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from retrai_core import make_clean_copy
from retrai_goal_support import temporary_prefix

WITHOUT = frozenset({".git", ".hg", ".svn"})
"""No trial may read what the history holds; a held-out test can be in it."""

_Seen = tuple[int, ...]


@asynccontextmanager
async def trial_copy(project: Path, home: Path) -> AsyncGenerator[TrialCopy]:
    """A `TrialCopy`, made and removed without blocking.

    Raises:
        OSError: it could not be made, or brought back.
    """
    copy = await asyncio.to_thread(lambda: TrialCopy(project, home).__enter__())
    try:
        yield copy
    finally:
        await asyncio.to_thread(copy.__exit__)


class TrialCopy:
    """A clean copy of `project`, made when it is entered and removed when it is left.

    Nothing in it is the project's own, so that what a trial writes, into `target/` say, is not
    written there; only virtual environments are links, since they work nowhere else.

    Args:
        project: what is copied, the project or a clean copy of it.
        home: the project, whose virtual environments a command may name.

    Attributes:
        room: the folder around the copy, which a trial may write.
        folder: the copy.

    Raises:
        OSError: it could not be made, or brought back; on entering, and from `fresh`.
    """

    def __init__(self, project: Path, home: Path) -> None:
        self._project = project
        self._home = home
        self._links: dict[str, Path] = {}
        self._temporary = tempfile.TemporaryDirectory(
            prefix=temporary_prefix("tmp"), ignore_cleanup_errors=True
        )
        self.room = Path(self._temporary.name).resolve()
        self.folder = self.room / project.name
        self._first: dict[str, _Seen] = {}
        self._trials = 0

    def __enter__(self) -> TrialCopy:
        try:
            make_clean_copy(self._project, self.folder, without=WITHOUT)
            self._link_environments()
            self._first = _seen(self.folder)
        except BaseException:
            self._temporary.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def fresh(self) -> Path:
        """Undo what was done in the copy; a new empty folder for temporary files and caches."""
        if self._trials:
            self._bring_back()
        self._trials += 1
        scratch = self.room / f"scratch-{self._trials}"
        scratch.mkdir()
        return scratch

    def _link_environments(self) -> None:
        for entry in os.scandir(self._home):
            if not os.path.isfile(f"{entry.path}/pyvenv.cfg") or entry.is_symlink():
                continue
            place = self.folder / entry.name
            with suppress(OSError):  # it is not there, or it is no mere mount point
                place.rmdir()
            if not os.path.lexists(place):
                place.symlink_to(entry.path)
                self._links[entry.name] = Path(entry.path)

    def _bring_back(self) -> None:
        for entry in self.room.iterdir():
            if entry != self.folder:
                _remove(entry)
        if _is_folder(self.folder):
            now = _seen(self.folder)
        else:
            _remove(self.folder)
            self.folder.mkdir()
            now = {}
        changed = sorted(path for path, seen in self._first.items() if now.get(path) != seen)
        # Parents first: nothing may be removed through a symlink that has come in a folder's place.
        for path in sorted({*changed, *(now.keys() - self._first.keys())}):
            target = self.folder / path
            if self._was_folder(path) and _is_folder(target):
                target.chmod(stat.S_IMODE(self._first[path][0]))
            elif os.path.lexists(target):
                _remove(target)
        for path in changed:
            self._put(path)

    def _was_folder(self, path: str) -> bool:
        return path in self._first and stat.S_ISDIR(self._first[path][0])

    def _put(self, path: str) -> None:
        source, target = self._project / path, self.folder / path
        if self._was_folder(path):
            target.mkdir(exist_ok=True)
            target.chmod(stat.S_IMODE(self._first[path][0]))
        elif path in self._links:
            target.symlink_to(self._links[path])
        else:
            shutil.copy2(source, target, follow_symlinks=False)
        self._first[path] = _key(target)


def _seen(folder: Path) -> dict[str, _Seen]:
    """What tells each file, symlink and folder below from a changed one, by relative path."""
    found: dict[str, _Seen] = {}
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(base, name)
            with suppress(FileNotFoundError):
                found[path.relative_to(folder).as_posix()] = _key(path)
    return found


def _key(path: Path) -> _Seen:
    """What a change of it shows in; a folder's stands in what lies in it."""
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode,)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_mode, status.st_ino, status.st_size, *times)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if not _is_folder(path):
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:  # some programs write-protect the folders of their caches
        path.chmod(stat.S_IRWXU)
        for base, folders, _ in os.walk(path):
            for folder in (Path(base, name) for name in folders):
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(path)
