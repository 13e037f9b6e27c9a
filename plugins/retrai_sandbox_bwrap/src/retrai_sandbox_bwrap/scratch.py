"""Folders of a run that stand for /tmp and the caches of its commands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from retrai_core import remove_tree, temporary_prefix

from .owner import Owner
from .places import within


class Scratch:
    """Makes and removes the folders.

    What commands leave in /tmp is there for the next one of the same kind, and for no other: a
    check must not find what the agent put there.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Path] = {}

    def folder(self, name: str) -> Path:
        """The folder of that name, with `tmp` and `cache` in it; a new one for an empty name."""
        if name in self._kept:
            return self._kept[name]
        folder = Path(tempfile.mkdtemp(prefix=temporary_prefix("retrai-scratch"))).resolve()
        for part, mode in (("tmp", 0o1777), ("cache", 0o700)):
            (folder / part).mkdir()
            (folder / part).chmod(mode)
        if name:
            self._kept[name] = folder
        return folder

    def give_back(self, folder: Path) -> None:
        """Remove the folder, if nobody else will find it."""
        if folder not in self._kept.values():
            remove_tree(folder)

    def close(self) -> None:
        """Remove all that were kept."""
        while self._kept:
            remove_tree(self._kept.popitem()[1])


def clear_way(
    tmp: Path, targets: Iterable[Path], stands_for: Path, owner: Owner | None = None
) -> None:
    """Make the folders in `tmp` that mounts below `stands_for` need, through no symlink.

    An earlier command may have left one there, and bubblewrap would follow it.
    """
    for target in targets:
        if not within(target, stands_for) or target == stands_for:
            continue
        place = tmp
        for part in target.relative_to(stands_for).parts[:-1]:
            place /= part
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                place.unlink()
            if not place.exists():
                place.mkdir()
                if owner is not None:
                    os.chown(place, owner.uid, owner.gid, follow_symlinks=False)
        last = place / target.name
        if last.is_symlink():
            last.unlink()
