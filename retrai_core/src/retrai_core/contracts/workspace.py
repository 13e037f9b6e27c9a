"""The project's files, as tools see them: paths are relative, and nothing outside is reachable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder.

    Attributes:
        path: relative to the project, with forward slashes.
        kind: what it is; a symlink is never followed to find out.
        size_bytes: of a file; 0 for all else.
    """

    path: str
    kind: Literal["file", "folder", "symlink", "other"]
    size_bytes: int = 0


class Workspace(ABC):
    """The only way for a tool to read and write the project.

    Paths are relative to `root`, with forward slashes. `..`, absolute paths and symlinks that lead
    outside are refused with `WorkspaceError`, also when the tree changes between a check and its
    use: an implementation opens each component from the folder above it. Writes to a path that the
    guard protects are refused with `WorkspaceError` and reported to the guard; so are writes into
    `.git`, `.hg` and `.svn`, and into retrai's own files.
    """

    root: Path

    @abstractmethod
    def read_bytes(self, path: str, max_bytes: int | None = None) -> bytes:
        """The file's bytes, at most `max_bytes` of them.

        Raises:
            WorkspaceError: the path leaves the project, is missing, or is not a file.
        """

    @abstractmethod
    def write_bytes(self, path: str, data: bytes) -> None:
        """Write the whole file atomically; missing folders are made; an existing mode is kept.

        Raises:
            WorkspaceError: the path leaves the project, is protected, belongs to version control,
                or cannot be written.
        """

    @abstractmethod
    def list_folder(self, path: str = ".") -> list[Entry]:
        """The folder's entries, sorted by path.

        Raises:
            WorkspaceError: the path leaves the project, is missing, or is not a folder.
        """

    @abstractmethod
    def walk(self, path: str = ".", *, ignored: bool = False) -> Iterator[Entry]:
        """Every file below `path`, sorted; what `.gitignore` names is left out unless `ignored`.

        `.git`, `.hg`, `.svn` and retrai's own `.retrai` are always left out.
        """

    @abstractmethod
    def stat(self, path: str) -> Entry | None:
        """The entry at `path`, or None where nothing is.

        Raises:
            WorkspaceError: the path leaves the project.
        """
