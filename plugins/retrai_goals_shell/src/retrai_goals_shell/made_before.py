"""What make has made before: files of its targets' names, which it takes for done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError


class _Known(BaseModel):
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
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(_Known(files=found).model_dump_json(), encoding="utf-8")

    def remove_others(self, folder: Path, names: Iterable[str]) -> None:
        """Take away, in a copy, what was made or touched since: make makes it again."""
        try:
            known = _Known.model_validate_json(self._path.read_bytes()).files
        except (FileNotFoundError, ValidationError):
            return  # no run has begun here
        for name in names:
            now = _stat(folder / name)
            if now is not None and known.get(name) != now:
                (folder / name).unlink(missing_ok=True)


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return None if path.is_dir() else (status.st_size, status.st_mtime_ns)
