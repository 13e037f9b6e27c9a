"""Set-user-id and set-group-id bits that a run's commands gave to files of the project.

As root they would stay on the host, for every user to run. What had them before the run keeps them,
and so do folders: shared ones pass their group on by them.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

_NOTE = "set_id.json"
"""In the run's folder while the run goes on: it is still there after a kill."""


def note_set_id(project: Path, run_dir: Path) -> None:
    """Remember which files have such bits now."""
    known = {"project": str(project), "files": [path for path, _ in _find(project)]}
    temporary = run_dir / f"{_NOTE}.new"
    temporary.write_text(json.dumps(known), encoding="utf-8")
    temporary.replace(run_dir / _NOTE)


def drop_set_id(run_dir: Path) -> list[str]:
    """Take the bits from files that did not have them when they were noted; from which.

    Nothing is done where nothing is noted, or a second time.
    """
    try:
        known = cast("dict[str, Any]", json.loads((run_dir / _NOTE).read_bytes()))
    except FileNotFoundError:
        return []
    dropped = _drop(Path(known["project"]), set(known["files"]))
    (run_dir / _NOTE).unlink(missing_ok=True)
    return dropped


def drop_in_copy(run_dir: Path, copy: Path) -> None:
    """The same in a copy of the project, while the run goes on."""
    with suppress(FileNotFoundError):  # a check without a run
        known = cast("dict[str, Any]", json.loads((run_dir / _NOTE).read_bytes()))
        _drop(copy, set(known["files"]))


def _drop(folder: Path, before: set[str]) -> list[str]:
    found = [(path, mode) for path, mode in _find(folder) if path not in before]
    return sorted(path for path, mode in found if _clear(folder / path, mode))


def drop_of_killed(state: Path, project: Path) -> list[str]:
    """The same for runs in `project` that were killed; the workspace's lock must be held."""
    dropped: list[str] = []
    for note in (state / "runs").glob(f"*/{_NOTE}"):
        with suppress(OSError, ValueError, KeyError):  # damaged, or gone meanwhile
            if json.loads(note.read_bytes())["project"] == str(project):
                dropped += drop_set_id(note.parent)
    return dropped


def as_told(paths: list[str]) -> list[str]:
    """What a person is told of it, one line each."""
    return [f"{path}: the run gave it a set-user-id or set-group-id bit; taken" for path in paths]


def _find(project: Path) -> Iterator[tuple[str, int]]:
    """The regular files with such bits, ignored ones too, with their modes."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(project / prefix) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            with suppress(OSError):  # it went away meanwhile
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{prefix}{entry.name}/")
                elif entry.is_file(follow_symlinks=False):
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
