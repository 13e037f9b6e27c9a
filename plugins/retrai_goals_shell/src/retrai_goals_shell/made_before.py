"""What make has made before: files of its targets' names, which it takes for done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from retrai_goal_support import SavedModel


class MadeBefore(SavedModel):
    """Size and change time of what stood there when the run began, by name."""

    files: dict[str, tuple[int, int]] = Field(default_factory=dict)


def keep_made(path: Path, folder: Path, names: Iterable[str]) -> None:
    """Remember in `path`, the first time, what stands in the place of targets."""
    if not path.exists():
        found = {name: stat for name in names if (stat := _stat(folder / name))}
        MadeBefore(files=found).save(path)


def remove_made_since(path: Path, folder: Path, names: Iterable[str]) -> None:
    """Take away, in a copy, what was made or touched since: make makes it again."""
    known = MadeBefore.load(path)
    if known is None:
        return  # no run has begun here
    for name in names:
        now = _stat(folder / name)
        if now is not None and known.files.get(name) != now:
            (folder / name).unlink(missing_ok=True)


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return None if path.is_dir() else (status.st_size, status.st_mtime_ns)
