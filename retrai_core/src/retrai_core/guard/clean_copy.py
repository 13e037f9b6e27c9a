"""A clean copy of the project: candidate files as they are, protected files as they were."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

from .files import CACHES, is_virtual_environment


def make_clean_copy(project: Path, target: Path) -> None:
    """Copy `project` to `target` without caches and without virtual environments.

    Ignored files come along, since a suite may need them (a generated version file, node_modules);
    byte code and caches do not, since they can hide what the sources say. Virtual environments stay
    behind because their interpreter is called by its absolute path. So does what cannot be read (a
    database's folder, say): the check could not read it in place either.
    """
    try:
        shutil.copytree(project, target, symlinks=True, ignore=_left_behind())
    except shutil.Error as error:
        failures = cast("list[tuple[str, str, str]]", error.args[0])
        if any(os.access(source, os.R_OK) for source, _, _ in failures):
            raise


def _left_behind() -> Callable[[str, list[str]], set[str]]:
    def ignore(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        return {
            name
            for name in names
            if name in CACHES
            or name.endswith((".pyc", ".pyo"))
            or is_virtual_environment(here / name)
            or _is_special(here / name)
        }

    return ignore


def _is_special(path: Path) -> bool:
    """A socket, pipe or device, which cannot be copied."""
    return not (path.is_symlink() or path.is_file() or path.is_dir())
