"""A clean copy of a project, tested in the original's environment: imports must come from the copy.

An editable install (`pip install -e .`, `uv sync`) has the original's folders on the import path,
so that the tests of a copy would try the original's sources, with the byte code and the files that
only lie there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CopiedProject:
    """A copy, and the folders of it that stand in for the original's on the import path.

    Attributes:
        original: the project.
        copy: the copy of it.
        roots: the copy's folders to import from, in the order of the path.
    """

    original: Path
    copy: Path
    roots: tuple[str, ...] = ()

    def counterpart(self, entry: str) -> str:
        """The same folder in the copy; the entry itself where it is not the project's.

        Example:
            >>> CopiedProject(Path("/project"), Path("/copy")).counterpart("/elsewhere/lib")
            '/elsewhere/lib'
        """
        if not os.path.isabs(entry):
            return entry
        path = Path(os.path.realpath(entry))
        original = self.original.resolve()
        if not path.is_relative_to(original):
            return entry
        found = self.copy / path.relative_to(original)
        # A virtual environment in the project is not part of the copy, and stays where it is.
        return str(found) if found.exists() else entry

    def import_path(self, before: str) -> str:
        """PYTHONPATH for the tests and their child processes.

        Args:
            before: PYTHONPATH as it would be for the original.
        """
        named = [self.counterpart(entry) for entry in before.split(os.pathsep) if entry]
        return os.pathsep.join([*self.roots, *named])


def copied_project(path: Iterable[str], original: Path, copy: Path) -> CopiedProject | None:
    """How to import from `copy` instead of `original`; None where they are the same.

    Args:
        path: the interpreter's import path.
        original: the project.
        copy: the copy of it.
    """
    if copy == original:
        return None
    plain = CopiedProject(original, copy)
    both = ((entry, plain.counterpart(entry)) for entry in path)
    roots = dict.fromkeys(found for entry, found in both if found != entry)
    return CopiedProject(original, copy, tuple(roots))
