"""Undoes changes of folders and permission bits, which git's trees do not store."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..workspace.owners import make_folders
from .git_store import Entry
from .manifest import Manifest


def remove_folders(project: Path, wanted: Manifest, left: Manifest) -> None:
    """Remove the run's folders that are empty by now: a file of before may have stood there."""
    for folder in sorted(left.folders.keys() - wanted.folders.keys(), reverse=True):
        place = project / folder
        if place.is_dir() and not place.is_symlink():
            with suppress(OSError):  # something is in it: the user's, or what is ignored
                place.rmdir()


def take_back_folders(project: Path, wanted: Manifest, left: Manifest, there: set[str]) -> None:
    """Make the folders that the run removed, and give back permission bits.

    Args:
        project: the project.
        wanted: the folders as they shall be.
        left: as the run left them.
        there: those of the wanted ones that stood when the undoing began.
    """
    for folder, mode in sorted(wanted.folders.items()):
        place = project / folder
        # One that the run left and that is gone since was removed by the user, or by us above.
        if not place.is_dir() and (folder in there or folder not in left.folders):
            with suppress(OSError):  # a file of the user's stands there
                make_folders(place)
                place.chmod(mode)
    for folder, mode in sorted(wanted.folders.items(), reverse=True):
        was = left.folders.get(folder)
        # Where the run had removed it, a file that was put back has made it anew.
        made_anew = was is None and folder not in there
        if made_anew or (was != mode and _has(project / folder, was)):
            give_bits(project / folder, mode)


def take_back_bits(
    project: Path, files: Mapping[str, Entry], wanted: Manifest, left: Manifest
) -> list[str]:
    """Give files whose content stayed the permission bits that the run took; which it were.

    Bits that the user has changed since are left.
    """
    restored: list[str] = []
    for path, entry in sorted(files.items()):
        asked, was = bits_of(wanted, path, entry), bits_of(left, path, entry)
        if asked is not None and asked != was and _has(project / path, was):
            give_bits(project / path, asked)
            restored.append(path)
    return restored


def bits_of(manifest: Manifest, path: str, entry: Entry) -> int | None:
    """A file's permission bits; None for a symlink, or where nothing is known."""
    if not entry.is_file:
        return None
    return manifest.mode_of(path, executable=entry.mode == "100755")


def give_bits(path: Path, bits: int | None) -> None:
    """Set permission bits where they are known; nothing follows a symlink."""
    if bits is not None and path.exists() and not path.is_symlink():
        path.chmod(bits)


def _has(path: Path, bits: int | None) -> bool:
    """Whether the file or folder still has the permission bits that the run left it with."""
    try:
        return bits is not None and stat.S_IMODE(path.lstat().st_mode) == bits
    except OSError:
        return False
