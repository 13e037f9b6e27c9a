"""A project with the snapshots of a run in it, for the tests of undoing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_core.storage.restore import Undone
from retrai_core.storage.snapshots import Snapshots
from retrai_core.storage.undo import undo


class Work:
    """A project, and the snapshots of a run in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        (folder / "run").mkdir()
        self.snapshots = Snapshots(folder / "run", self.project)
        self.iteration = 0

    def write(self, name: str, data: bytes, mode: int = 0o644) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)

    def snapshot(self) -> None:
        self.snapshots.take(self.iteration)
        self.iteration += 1

    def undo(self, to: int = 0) -> Undone:
        return undo(self.snapshots, self.project, to)

    def tree(self) -> dict[str, tuple[str, bytes]]:
        """Everything: kind and permission bits, and content or target."""
        found: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self.project.rglob("*")):
            name = path.relative_to(self.project).as_posix()
            if path.is_symlink():
                found[name] = ("link", os.fsencode(path.readlink()))
            elif path.is_file():
                found[name] = (f"file {path.stat().st_mode:o}", path.read_bytes())
            elif path.is_dir():
                found[name] = (f"folder {path.stat().st_mode:o}", b"")
        return found


@pytest.fixture(scope="session")
def new_work() -> type[Work]:
    """Makes one in a folder."""
    return Work
