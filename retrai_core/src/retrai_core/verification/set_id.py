"""Set-user-id and set-group-id bits that a run's commands gave to files of the project.

If retrai runs as root, they would stay on the host for every user to run. Files that had them
before keep them, and so do folders: shared ones use them to pass on their group.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from .files import fingerprint, walk
from .refusal import Refusal


def find_set_id(project: Path) -> dict[str, str]:
    """The files that have such bits now, each with its fingerprint."""
    return {path: fingerprint(project / path) for path, _ in _find(project)}


def drop_set_id(
    project: Path, before: Mapping[str, str], is_later: Callable[[Path], bool]
) -> list[Refusal]:
    """Remove the bits from files of the project.

    Args:
        project: the project.
        before: from `find_set_id`; a file that is as it was then keeps its bits.
        is_later: whether somebody has changed the file since the run was over.
    """
    why = "the run set its set-user-id or set-group-id bit; the bit was removed"
    dropped: list[Refusal] = []
    for path, mode in sorted(_find(project)):
        target = project / path
        is_users = before.get(path) == fingerprint(target) or is_later(target)
        if not is_users and _clear(target, mode):
            dropped.append(Refusal(path, why))
    return dropped


def _find(project: Path) -> Iterator[tuple[str, int]]:
    """The regular files with such bits, ignored ones too, with their modes."""
    for path, entry in walk(project):
        with suppress(OSError):  # it went away meanwhile
            if entry.is_file(follow_symlinks=False):
                mode = entry.stat(follow_symlinks=False).st_mode
                if _bits(mode):
                    yield path, mode


def _bits(mode: int) -> int:
    # Set-group-id without group execution means mandatory locking (inode(7)), and gives nobody
    # rights.
    group = stat.S_ISGID if mode & stat.S_IXGRP else 0
    return mode & (stat.S_ISUID | group)


def _clear(path: Path, mode: int) -> bool:
    """Clear the bits of a file, through no symlink that was put there meanwhile."""
    try:
        with suppress(PermissionError):  # not readable by us, but ours
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fchmod(handle, stat.S_IMODE(mode) & ~_bits(mode))
            finally:
                os.close(handle)
            return True
        if path.is_symlink():
            return False
        os.chmod(path, stat.S_IMODE(mode) & ~_bits(mode))
    except OSError:
        return False
    return True
