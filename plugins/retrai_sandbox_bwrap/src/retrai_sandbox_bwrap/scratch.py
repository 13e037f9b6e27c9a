"""Folders of a run that stand for /tmp and the caches of its commands."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .places import within


class Scratch:
    """Makes and removes the folders.

    What commands leave in /tmp is there for the next one of the same kind, and for no other: a
    check must not find what the agent put there.
    """

    def __init__(self) -> None:
        self._base: Path | None = None
        self._fresh = 0

    def folder(self, name: str) -> Path:
        """The folder of that name, with `tmp` and `cache` in it; empty: one of its own."""
        if self._base is None:
            self._base = Path(tempfile.mkdtemp(prefix="retrai-scratch-")).resolve()
        if not name:
            self._fresh += 1
        folder = self._base / (name or f"fresh-{self._fresh}")
        for part, mode in (("tmp", 0o1777), ("cache", 0o700)):
            if not (folder / part).is_dir():
                (folder / part).mkdir(parents=True)
                (folder / part).chmod(mode)
        return folder

    def close(self) -> None:
        """Remove all of them."""
        base, self._base = self._base, None
        if base is not None:
            remove_tree(base)


def clear_way(tmp: Path, targets: Iterable[Path], stands_for: Path) -> None:
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
            place.mkdir(exist_ok=True)
        last = place / target.name
        if last.is_symlink():
            last.unlink()


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, whatever rights a command took from it."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        folder.chmod(stat.S_IRWXU)
        for place, names, _ in os.walk(folder):
            for name in names:
                if not os.path.islink(os.path.join(place, name)):
                    os.chmod(os.path.join(place, name), stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)
