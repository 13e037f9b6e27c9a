"""Set-user-id and set-group-id bits that a run's commands gave to files of the project.

As root they would stay on the host, for every user to run. What had them before the run keeps them,
and so do folders: shared ones pass their group on by them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from .folders import folders
from .refusal import Refusal


def find_set_id(project: Path) -> list[str]:
    """Which files have such bits now."""
    return [path for path, _ in _find(project)]


def drop_set_id(folder: Path, before: Collection[str]) -> list[Refusal]:
    """Take the bits from files of the project, or of a copy of it, but for those that had them."""
    found = [(path, mode) for path, mode in _find(folder) if path not in before]
    dropped = sorted(path for path, mode in found if _clear(folder / path, mode))
    why = "the run gave it a set-user-id or set-group-id bit; taken"
    return [Refusal(path, why) for path in dropped]


def _find(project: Path) -> Iterator[tuple[str, int]]:
    """The regular files with such bits, ignored ones too, with their modes."""
    for prefix, entries in folders(project):
        for entry in entries:
            with suppress(OSError):  # it went away meanwhile
                if entry.is_file(follow_symlinks=False):
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if _bits(mode):
                        yield f"{prefix}{entry.name}", mode


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
