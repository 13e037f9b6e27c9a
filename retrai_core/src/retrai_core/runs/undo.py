"""Taking back what a run changed, without taking back what the user has changed since."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from .snapshots import Entry, Snapshots
from .undo_folders import bits_of, give_bits, take_back_bits, take_back_folders

_MERGE_TIMEOUT_S = 60


@dataclass
class Undone:
    """What came of it, each a list of relative paths.

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


def undo(snapshots: Snapshots, project: Path, to: int = 0) -> Undone:
    """Bring the project back to how it was after iteration `to`; 0 is before the first.

    Only what the run changed after that is touched, and of it only what still is as the run left
    it, or can be merged with what the user has done since. What git ignores is left alone.

    Raises:
        UsageError: git is not there, or the run has no snapshot.
    """
    if not snapshots.available:
        raise UsageError("`git` is not installed", hint="install git to undo a run")
    every = snapshots.all()
    if not every:
        raise UsageError("this run kept no snapshot, so there is nothing to undo")
    goal, end = snapshots.at(to), every[-1]
    wanted, left = snapshots.entries(goal), snapshots.entries(end)
    bits, bits_left = snapshots.manifest(goal), snapshots.manifest(end)
    there = {folder for folder in bits.folders if (project / folder).is_dir()}
    undone = Undone()
    both = wanted.keys() | left.keys()
    paths = sorted(path for path in both if wanted.get(path) != left.get(path))
    # Removals first: a folder of the run's may stand where a file was.
    for path in sorted(paths, key=lambda path: path in wanted):
        _take_back(snapshots, project, path, wanted.get(path), left.get(path), undone)
    for path in undone.restored:
        give_bits(project / path, bits_of(bits, path, wanted[path]))
    stayed = {path: entry for path, entry in wanted.items() if left.get(path) == entry}
    undone.restored += take_back_bits(project, stayed, bits, bits_left)
    take_back_folders(project, bits, bits_left, there)
    return undone


def _take_back(
    snapshots: Snapshots,
    project: Path,
    path: str,
    wanted: Entry | None,
    left: Entry | None,
    undone: Undone,
) -> None:
    target = project / path
    now = entry_of(target)
    if now == wanted:
        return
    if now == left:
        if wanted is None:
            target.unlink()
            _remove_empty_parents(target, project)
            undone.removed.append(path)
        elif put_entry(target, wanted, snapshots.content(wanted)):
            undone.restored.append(path)
        else:
            undone.conflicts.append(path)
        return
    merged = None
    if now and wanted and left and all(entry.is_file for entry in (now, wanted, left)):
        there = target.read_bytes()
        merged = _merge(there, snapshots.content(left), snapshots.content(wanted))
        if merged == there:
            return  # an earlier undo took the run's change out already
    if merged is not None and wanted is not None and put_entry(target, wanted, merged):
        undone.merged.append(path)
    else:
        undone.conflicts.append(path)


def entry_of(path: Path) -> Entry | None:
    """What stands at `path`, as git would store it; None for nothing or what git cannot store."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return Entry("120000", _blob_id(os.fsencode(path.readlink())))
    if stat.S_ISREG(mode):
        return Entry("100755" if mode & 0o100 else "100644", _blob_id(path.read_bytes()))
    return None


def _blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def put_entry(target: Path, entry: Entry, data: bytes) -> bool:
    """Put the file or symlink there in one step; an existing file's other mode bits are kept.

    False where something of the user's is in the way: a folder that is not empty, or a file where
    a folder must be.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
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
            executable = entry.mode == "100755"
            new.chmod(stat.S_IMODE(old) | 0o111 if executable else stat.S_IMODE(old) & ~0o111)
        new.replace(target)
    return True


def _remove_empty_parents(target: Path, project: Path) -> None:
    for folder in target.parents:
        if folder == project:
            return
        try:
            folder.rmdir()
        except OSError:
            return  # something else is in it


def _merge(now: bytes, left: bytes, wanted: bytes) -> bytes | None:
    """What the user has now, with the run's change taken out; None where the two overlap."""
    if any(b"\0" in data for data in (now, left, wanted)):
        return None
    with tempfile.TemporaryDirectory(prefix="retrai-undo-") as folder:
        names = [Path(folder, name) for name in ("now", "left", "wanted")]
        for name, data in zip(names, (now, left, wanted), strict=True):
            name.write_bytes(data)
        done = subprocess.run(  # our own git, on our own copies
            ["git", "merge-file", "-p", *map(str, names)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_MERGE_TIMEOUT_S,
            check=False,
        )
    return done.stdout if done.returncode == 0 else None
