"""What make has made before: files of its targets' names, which it takes for done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from retrai_goal_support import SavedModel


class _Known(SavedModel):
    """Size and change time of what stood there when the run began, by name."""

    files: dict[str, tuple[int, int]] = Field(default_factory=dict)


class MadeBefore:
    """What stood in the place of targets when the run began.

    Args:
        path: where it is remembered.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self, folder: Path, names: Iterable[str]) -> None:
        """Remember what stands there now, the first time."""
        if self._path.exists():
            return
        found = {name: stat for name in names if (stat := _stat(folder / name))}
        _Known(files=found).save(self._path)

    def remove_others(self, folder: Path, names: Iterable[str]) -> None:
        """Take away, in a copy, what was made or touched since: make makes it again."""
        known = _Known.load(self._path)
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
