"""Writes a file atomically: readers see the old text or the new, never a part."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from ..errors import WorkspaceError
from .beneath import Place, explained
from .owners import give_to_owner_of_folder


def write_atomically(place: Place, path: str, data: bytes) -> None:
    """Put `data` at `place` by a temporary file beside it and a rename.

    The rename replaces whatever stands at the name, so a symlink that someone puts there meanwhile
    is replaced and not followed, and another name of a hard-linked file keeps the old text. The
    file's mode is kept, and its owner where we may; a new file of root's belongs to whom its folder
    belongs to. Nothing is synced to the disk: it has to
    survive a killed process, not a power cut.

    Args:
        place: where; from `reach`.
        path: as the caller knows it, for messages.
        data: the whole new content.

    Raises:
        WorkspaceError: something else than a file stands there, it is read-only, or the file
            system refuses.
    """
    try:
        before = _existing(place, path)
        temporary = f".retrai-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o666, dir_fd=place.folder)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                if before is not None:
                    _copy_owner_and_mode(file.fileno(), before)
                else:
                    give_to_owner_of_folder(temporary, place.folder)
            os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        except BaseException:
            os.unlink(temporary, dir_fd=place.folder)
            raise
    except OSError as error:
        raise explained(error, path) from error


def replace_file(path: Path, data: bytes) -> None:
    """Write a file of retrai's own, so that a kill leaves the old text or the new one.

    Only the user can read it. As above, nothing is synced to the disk.

    Raises:
        OSError: it cannot be written.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)


def _existing(place: Place, path: str) -> os.stat_result | None:
    try:
        found = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise WorkspaceError(f"{path!r} is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise WorkspaceError(f"{path!r} is not a regular file")
    if not found.st_mode & 0o222:
        # A rename would succeed all the same; the owner has said no.
        raise WorkspaceError(f"{path!r} is read-only", hint="its mode allows nobody to write")
    return found


def _copy_owner_and_mode(handle: int, before: os.stat_result) -> None:
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):  # only root may give files away
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode) & 0o777)
