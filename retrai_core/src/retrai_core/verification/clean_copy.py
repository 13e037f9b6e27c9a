"""A clean copy of the project: candidate files as they are, protected files as they were."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from ..workspace.installed import is_package_folder
from ..workspace.temporary import temporary_prefix
from .files import CACHES, clear_place, is_virtual_environment

# _IOW(0x94, 9, int) of linux/fs.h: the two files share their blocks until one is written to.
_FICLONE = 0x40049409
_WHOLE = 1 << 20
"""Files up to this many bytes are read and written in one go."""


def make_clean_copy(
    project: Path,
    target: Path,
    *,
    without: frozenset[str] = frozenset(),
    link_packages: bool = False,
) -> None:
    """Copy `project` to `target` without caches and without virtual environments.

    Files lose their set-user-id and set-group-id bits, which a run may have given them.

    Ignored files come along, since a suite may need them (a generated version file, node_modules);
    byte code and caches do not, since they can hide what the sources say. Virtual environments stay
    behind because their interpreter is called by its absolute path. So does what cannot be read (a
    database's folder, say): the check could not read it in place either.

    Blocks are shared where the file system can do that; hard links are not used, for what a check
    writes through one would change the original.

    Args:
        project: an absolute path.
        target: what must not be there yet; its parents are made.
        without: names of files and folders that are left behind too, wherever they stand.
        link_packages: packages in `node_modules`, which may be 100,000 files, are links to those of
            the project. Links to the project's own packages (workspaces) stay as they are.

    Raises:
        OSError: it cannot be written (the disk is full); what is there by then stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _copy_folder(os.fspath(project), os.fspath(target), CACHES | without, link_packages)


@contextmanager
def without_files(copy: Path, paths: Iterable[str]) -> Generator[None]:
    """While it lasts, `copy` does not have these files; then each is back as it was.

    Nothing outside the copy is touched, whatever symlinks a check puts there meanwhile.

    Args:
        copy: a copy of the project, never the project itself.
        paths: relative to it.

    Raises:
        OSError: one of them is not there, lies outside the copy or cannot be moved; or the copy
            itself was replaced meanwhile.

    Example:
        >>> copy = Path(tempfile.mkdtemp()) / "shop"
        >>> copy.mkdir()
        >>> _ = (copy / "new_test.go").write_text("package shop")
        >>> with without_files(copy, ["new_test.go"]):
        ...     (copy / "new_test.go").exists()
        False
        >>> (copy / "new_test.go").read_text()
        'package shop'
    """
    root = os.path.realpath(copy)
    # Not beside the copy: a workspace may take every folder there for a member (`crates/*`).
    with tempfile.TemporaryDirectory(
        prefix=temporary_prefix("retrai-away"), ignore_cleanup_errors=True
    ) as room:
        taken: dict[Path, Path] = {}
        try:
            for number, path in enumerate(paths):
                real = Path(os.path.realpath((copy / path).parent), Path(path).name)
                if not real.is_relative_to(root):
                    raise OSError(f"{path} lies outside the copy")
                place = Path(room, str(number))
                shutil.move(real, place)
                taken[real] = place
            yield
        finally:
            if os.path.realpath(root) != root:
                raise OSError(f"a symlink took the place of {copy}")
            for real, place in taken.items():
                clear_place(Path(root), real)
                real.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(place, real)


def _copy_folder(
    source: str, target: str, left_behind: frozenset[str], link_packages: bool
) -> None:
    try:
        with os.scandir(source) as found:
            entries = list(found)
    except (PermissionError, FileNotFoundError):
        return  # closed to us, or gone meanwhile
    os.mkdir(target)
    for entry in entries:
        if entry.name in left_behind or entry.name.endswith((".pyc", ".pyo")):
            continue
        place = f"{target}/{entry.name}"
        if entry.is_symlink():
            with suppress(FileNotFoundError):
                os.symlink(os.readlink(entry.path), place)
        elif link_packages and is_package_folder(entry):
            os.symlink(entry.path, place)
        elif entry.is_dir():
            if not is_virtual_environment(entry.path):
                _copy_folder(entry.path, place, left_behind, link_packages)
        elif entry.is_file():  # and no socket, pipe or device, which cannot be copied
            _copy_file(entry.path, place)
    shutil.copystat(source, target)


def _copy_file(source: str, target: str) -> None:
    try:
        handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (PermissionError, FileNotFoundError):
        return  # closed to us, or gone meanwhile
    try:
        status = os.fstat(handle)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        new = os.open(target, flags, stat.S_IMODE(status.st_mode) | stat.S_IWUSR)
        try:
            _copy_content(handle, new, status.st_size)
            os.fchmod(new, status.st_mode & 0o1777)
            os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(new)
    finally:
        os.close(handle)


def _copy_content(source: int, target: int, size: int) -> None:
    if size > _WHOLE:
        with suppress(OSError):  # a file system that cannot share blocks
            fcntl.ioctl(target, _FICLONE, source)
            return
    while data := os.read(source, _WHOLE):
        while data:
            data = data[os.write(target, data) :]
