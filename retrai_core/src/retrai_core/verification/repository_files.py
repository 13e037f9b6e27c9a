"""Files above the project in its repository: a monorepo's configuration affects the check.

A runner also looks for its configuration in the folders above, and names its cases relative to the
one that it finds. A clean copy has the same depth, below copies of the same files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

_MARKS = (".git", ".hg")


def place_in_repository(project: Path) -> Path:
    """Where the project stands, from the name of its repository on; its own name outside of one."""
    for folder in (project, *project.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return project.relative_to(folder.parent)
    return Path(project.name)


def copy_surroundings(
    project: Path, place: Path, wanted: Callable[[str], bool], target: Path
) -> None:
    """Copy the files above the project, within its repository, whose names are wanted.

    Args:
        project: the project.
        place: where it stands, as `place_in_repository` says.
        wanted: by file name.
        target: gets the files at the places that they have in the repository.
    """
    for above, folder in zip(place.parents, project.parents, strict=False):
        if above == Path():
            return
        for name in _names_in(folder):
            if wanted(name) and (folder / name).is_file():
                (target / above).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, target / above / name)


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except PermissionError:
        return []  # the runner cannot look there either
