"""Gives files that root creates in another user's project to that user."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def give_to_owner_of_folder(name: str | Path, folder: int | Path) -> None:
    """Give a new file, symlink or folder to the owner and group of its folder; nothing but as root.

    Args:
        name: its name in the folder, or its path.
        folder: the open folder, or its path.
    """
    if os.geteuid() != 0:
        return
    handle = folder if isinstance(folder, int) else None
    with suppress(PermissionError):  # root of a container, over files of somebody outside
        above = os.stat(folder)
        os.chown(name, above.st_uid, above.st_gid, dir_fd=handle, follow_symlinks=False)


def give_to_owner_of(source: Path, target: Path) -> None:
    """Give a copy to whom its source belongs; nothing but as root."""
    if os.geteuid() == 0:
        status = source.lstat()
        with suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid, follow_symlinks=False)


def make_folders(folder: Path) -> None:
    """Make a folder and what is missing above it, each for the owner of the one it stands in."""
    if folder.is_dir():
        return
    make_folders(folder.parent)
    folder.mkdir(exist_ok=True)
    give_to_owner_of_folder(folder, folder.parent)
