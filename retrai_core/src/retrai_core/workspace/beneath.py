"""Opens paths below a folder, and never anything else, even while the tree changes.

Each component is opened from the folder above it without following symlinks; a symlink is read and
resolved here, so its target is opened the same way. A check by name followed by a use by name would
leave a gap in which a folder can be replaced by a symlink.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath

from ..errors import WorkspaceError
from .owners import give_to_owner_of_folder

MAX_SYMLINKS = 40
"""As many as Linux follows in one path (path_resolution(7))."""

# O_PATH (Linux) needs no read permission on the folders in between.
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a name in an open folder.

    Attributes:
        folder: file descriptor of the folder; valid inside the `with` block only.
        name: the last component, or `.` when the path is a folder reached through a symlink or
            the root itself. It may not exist.
        real: the path relative to the root with every symlink above `name` resolved.
    """

    folder: int
    name: str
    real: str


def parts_of(root: Path, path: str) -> list[str]:
    """The components of a path that a tool was given; none for the root itself.

    Raises:
        WorkspaceError: it is empty, absolute, holds `..` or a NUL byte, or cannot be a file name.
    """
    if not path:
        raise WorkspaceError("the path is empty", hint="`.` is the project itself")
    if "\0" in path:
        raise WorkspaceError(f"{path!r} holds a NUL byte")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise WorkspaceError(f"{path!r} cannot be a file name") from None
    pure = PurePosixPath(path)
    if pure.is_absolute():
        inside = _below(root, path)
        if inside is None:
            raise WorkspaceError(
                f"{path!r} lies outside the project", hint="give a path relative to the project"
            )
        raise WorkspaceError(
            f"{path!r} is an absolute path", hint=f"in the project it is {inside!r}"
        )
    if ".." in pure.parts:
        inside = _below(root, str(root / path))
        where = f"in the project it is {inside!r}" if inside else "paths start at the project"
        raise WorkspaceError(f"{path!r} goes up with `..`", hint=where)
    return list(pure.parts)


def _below(root: Path, path: str) -> str | None:
    """The absolute `path` relative to `root`, by its letters alone."""
    relative = os.path.relpath(os.path.normpath(path), root)
    return None if relative == ".." or relative.startswith("../") else relative


@contextmanager
def reach(
    root: Path,
    path: str,
    *,
    follow_last: bool = True,
    before_making: Callable[[str], None] | None = None,
) -> Generator[Place]:
    """The place that `path` leads to.

    Args:
        root: the absolute folder that nothing leaves.
        path: relative, as a tool was given it.
        follow_last: whether a symlink at the very end is followed too.
        before_making: when given, missing folders are made; it is called with the real path before
            the first is, and may raise.

    Raises:
        WorkspaceError: the path leaves the root, or a folder on the way is missing or is none.
    """
    descent = _Descent(root, path, before_making)
    try:
        try:
            place = descent.go(parts_of(root, path), follow_last)
        except OSError as error:
            raise explained(error, path) from error
        yield place
    finally:
        descent.close()


class _Descent:
    """One descent from the root; keeps only one folder open at a time."""

    def __init__(self, root: Path, path: str, before_making: Callable[[str], None] | None) -> None:
        self.root = root
        self.path = path
        self.before_making = before_making
        self.names: list[str] = []
        self.links = 0
        self.folder = -1

    def close(self) -> None:
        if self.folder >= 0:
            os.close(self.folder)
            self.folder = -1

    def go(self, parts: Sequence[str], follow_last: bool) -> Place:
        self._restart([])
        pending = list(reversed(parts))
        while pending:
            part = pending.pop()
            if part == "..":  # only a symlink's target can hold one
                if not self.names:
                    raise self._outside()
                self._restart(self.names[:-1])
            elif not pending:
                target = self._link(part) if follow_last else None
                if target is None:
                    return Place(self.folder, part, "/".join([*self.names, part]))
                pending.extend(reversed(self._target_parts(target)))
            elif (target := self._enter(part, pending)) is not None:
                pending.extend(reversed(self._target_parts(target)))
        return Place(self.folder, ".", "/".join(self.names) or ".")

    def _restart(self, names: list[str]) -> None:
        """Stand in the folder `names` again, from the root: none of them is a symlink."""
        self.close()
        self.names = []
        self.folder = os.open(self.root, _FOLDER_FLAGS)
        for name in names:
            self._step(name)

    def _step(self, name: str) -> None:
        below = os.open(name, _FOLDER_FLAGS, dir_fd=self.folder)
        self.close()
        self.folder = below
        self.names.append(name)

    def _enter(self, part: str, pending: list[str]) -> str | None:
        """Step into the folder `part`; its target when it is a symlink."""
        try:
            self._step(part)
        except FileNotFoundError:
            if self.before_making is None or ".." in pending:
                raise
            self.before_making("/".join([*self.names, part, *reversed(pending)]))
            with suppress(FileExistsError):  # what stands there by now is entered like any other
                os.mkdir(part, dir_fd=self.folder)
                give_to_owner_of_folder(part, self.folder)
            self._step(part)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            target = self._link(part)
            if target is None:
                where = "/".join([*self.names, part])
                raise WorkspaceError(f"{where!r} is a file, not a folder") from error
            return target
        return None

    def _link(self, name: str) -> str | None:
        """The target of the symlink `name`, or None when it is something else or nothing."""
        try:
            return os.readlink(name, dir_fd=self.folder)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def _target_parts(self, target: str) -> list[str]:
        self.links += 1
        if self.links > MAX_SYMLINKS:
            raise WorkspaceError(f"{self.path!r} runs through too many symlinks")
        pure = PurePosixPath(target)
        if not pure.is_absolute():
            return list(pure.parts)
        try:
            inside = pure.relative_to(self.root)
        except ValueError:
            raise self._outside() from None
        self._restart([])
        return list(inside.parts)

    def _outside(self) -> WorkspaceError:
        return WorkspaceError(f"{self.path!r} leads outside the project through a symlink")


def open_file(folder: int, name: str) -> BufferedReader:
    """A regular file in an open folder, for reading; a symlink is not followed.

    Raises:
        OSError: it cannot be opened, or is something else than a regular file.
    """
    # Without O_NONBLOCK, opening a named pipe would wait for its writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(name, flags, dir_fd=folder)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return open(handle, "rb")
    os.close(handle)
    raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO, "not a regular file")


def explained(error: OSError, path: str) -> WorkspaceError:
    """The refusal that says in words what the system call said by number."""
    reasons = {
        errno.ENOENT: "does not exist",
        errno.EACCES: "may not be accessed: permission denied",
        errno.EPERM: "may not be accessed: not permitted",
        errno.ENOTDIR: "runs through something that is not a folder",
        errno.EISDIR: "is a folder",
        errno.ELOOP: "was replaced by a symlink while it was being opened",
        errno.ENAMETOOLONG: "is too long a name",
        errno.EROFS: "lies on a read-only file system",
        errno.ENOSPC: "could not be written: no space is left",
        errno.EDQUOT: "could not be written: the disk quota is used up",
        errno.ENXIO: "is not a regular file",
    }
    reason = reasons.get(error.errno or 0, f"could not be used: {error.strerror or error}")
    return WorkspaceError(f"{path!r} {reason}")
