"""Which files `holdout:` matches, and which other files reveal them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from .files import walk_project
from .globs import Globs

_CACHES = (".pytest_cache", ".hypothesis", ".mypy_cache")
"""They name the tests of earlier runs, and hold inputs and results of theirs."""


def is_outside(pattern: str) -> bool:
    """Whether a pattern is a path outside the project and not a glob in it."""
    return pattern.startswith(("/", "~"))


def outside(pattern: str) -> Path:
    """The path that such a pattern means."""
    return Path(os.path.expanduser(pattern))


def find_held(project: Path, patterns: Sequence[str]) -> list[str]:
    """The project's files that are meant, relative and sorted.

    Raises:
        UsageError: a pattern means nothing.
    """
    found: set[str] = set()
    every = list(walk_project(project))
    for pattern in patterns:
        if is_outside(pattern):
            _require_outside(project, pattern)
            continue
        meant = set(filter(Globs([pattern]).match, every))
        if not meant:
            raise UsageError(
                f"holdout: {pattern} means no file of the project",
                hint="globs are relative to the project: `tests/held_out/**`",
            )
        found |= meant
    return sorted(found)


def _require_outside(project: Path, pattern: str) -> None:
    place = outside(pattern)
    if place.resolve().is_relative_to(project):
        raise UsageError(
            f"holdout: {pattern} lies in the project", hint="name it relative to the project"
        )
    if next(files_of(place), None) is None:
        raise UsageError(f"holdout: {pattern} holds no files")


def files_of(place: Path) -> Iterator[Path]:
    """The files and symlinks in a folder, or the one file that it is, sorted."""
    if place.is_file() or place.is_symlink():
        yield place
        return
    for path in sorted(place.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path


def folders_to_hide(project: Path, held: Sequence[str]) -> list[str]:
    """The folders that hold these files and nothing else, and caches that tell about them.

    Raises:
        UsageError: other files lie beside a held-out one.
    """
    if not held:
        return []
    others = set(walk_project(project)) - set(held)
    needed = {parent for path in others for parent in Path(path).parents} | {Path()}
    for path in held:
        if Path(path).parent in needed:
            raise UsageError(
                f"holdout: other files lie beside {path}, and a sandbox hides whole folders",
                hint="move the held-out files to a folder of their own, or outside the project: "
                "`holdout: [~/held-out]` lays that folder over the project",
            )
    folders = {Path(path).parent for path in held}
    folders = {one for one in folders if not folders & set(one.parents)}
    caches = (folder / name for folder in needed for name in _CACHES)
    found = folders | {cache for cache in caches if (project / cache).is_dir()}
    return sorted(folder.as_posix() for folder in found)
