"""The folders that the server may work in: those beneath its roots."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .errors import ApiError

_NAMESPACE = uuid.UUID("6f0d6a2e-6a55-4c0e-9a54-0a4d9f1b7c11")


class Projects(Mapping[uuid.UUID, Path]):
    """Registered projects by UUID. A folder's UUID is the same in every server.

    Args:
        roots: folders, with their symlinks resolved.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(roots)
        self._folders: dict[uuid.UUID, Path] = {}

    def __getitem__(self, project: uuid.UUID) -> Path:
        """The project's folder; looked at again, since it may be a symlink by now.

        Raises:
            KeyError: nobody has registered it.
            ApiError: it is gone, or lies elsewhere now.
        """
        return self.resolve(str(self._folders[project]))

    def __iter__(self) -> Iterator[uuid.UUID]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)

    def folder(self, project: uuid.UUID) -> Path:
        """The project's folder.

        Raises:
            ApiError: there is no such project, or its folder is gone.
        """
        if project not in self._folders:
            raise ApiError(
                404,
                "ProjectNotFound",
                f"no project {project} is registered",
                hint='POST /api/projects {"path": FOLDER} registers one',
            )
        return self[project]

    def register(self, folder: Path) -> uuid.UUID:
        """Keep a resolved folder; its UUID."""
        project = self.id_of(folder)
        self._folders[project] = folder
        return project

    @staticmethod
    def id_of(folder: Path) -> uuid.UUID:
        """The UUID of a resolved folder."""
        return uuid.uuid5(_NAMESPACE, str(folder).encode("utf-8", "backslashreplace").decode())

    def contains(self, folder: Path) -> bool:
        """Whether a folder lies beneath a root, once its symlinks are resolved."""
        try:
            return any(folder.resolve().is_relative_to(root) for root in self.roots)
        except (OSError, RuntimeError, ValueError):  # a loop of symlinks, a NUL
            return False

    def resolve(self, path: str) -> Path:
        """The folder that a client names, symlinks resolved; a relative one lies in the first root.

        Raises:
            ApiError: it does not lie beneath a root, or is no folder.
        """
        if not path.strip():
            raise ApiError(
                422, "UsageError", "the folder has no name", hint="`.` is the first root"
            )
        named = self.roots[0] / path
        # Before it is looked for: nobody learns what there is elsewhere.
        if not self.contains(named):
            roots = ", ".join(map(str, self.roots))
            raise ApiError(
                403,
                "OutsideRoots",
                f"{path} does not lie beneath {roots}",
                hint="`retrai serve --root FOLDER` serves another folder",
            )
        folder = named.resolve()
        if not folder.is_dir():
            gone = next((root for root in self.roots if not root.is_dir()), None)
            what = f"the root {gone} is gone" if gone else f"there is no folder {path}"
            raise ApiError(404, "FolderNotFound", what)
        return folder
