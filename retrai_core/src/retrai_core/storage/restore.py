"""Reads the current state of a project, and replaces it in one step."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..workspace.owners import give_to_owner_of, give_to_owner_of_folder, make_folders
from .git_store import EXECUTABLE, FILE, SYMLINK, Entry


@dataclass
class Undone:
    """The result of an undo; each field is a list of relative paths.

    A repository is named by its `.git`.

    Attributes:
        restored: as they were, byte for byte.
        removed: the run had made them.
        merged: the run's change is taken out and the user's later one kept.
        conflicts: the user has changed the same place since; left alone.
    """

    restored: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    merged: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])


def entry_of(path: Path) -> Entry | None:
    """What stands at `path`, as git would store it; None for nothing or what git cannot store."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return Entry(SYMLINK, _blob_id(os.fsencode(path.readlink())))
    if stat.S_ISREG(mode):
        return Entry(EXECUTABLE if mode & 0o100 else FILE, _blob_id(path.read_bytes()))
    return None


def remove_file(target: Path, project: Path) -> None:
    """Remove a file or symlink, and the folders of the project that are empty then."""
    target.unlink()
    for folder in target.parents:
        if folder == project:
            return
        try:
            folder.rmdir()
        except OSError:
            return  # something else is in it


def put_entry(target: Path, entry: Entry, data: bytes) -> bool:
    """Put the file or symlink there in one step; an existing file's other permissions are kept.

    False where something of the user's is in the way: a folder that is not empty, or a file where
    a folder must be.
    """
    try:
        make_folders(target.parent)
        if target.is_dir() and not target.is_symlink():
            target.rmdir()
    except OSError:
        return False
    old = target.lstat().st_mode if target.is_file() and not target.is_symlink() else 0o644
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".retrai-") as folder:
        new = Path(folder, "new")
        if not entry.is_file:
            new.symlink_to(os.fsdecode(data))
        else:
            new.write_bytes(data)
            executable = entry.mode == EXECUTABLE
            kept = old & 0o777  # no set-user-id bit: the run may have given it
            new.chmod(kept | 0o111 if executable else kept & ~0o111)
        if os.path.lexists(target):
            give_to_owner_of(target, new)
        else:
            give_to_owner_of_folder(new, target.parent)
        new.replace(target)
    return True


def _blob_id(data: bytes) -> str:
    """The name that git gives to this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
