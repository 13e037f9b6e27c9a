"""Tells installed files that lock files vouch for from those that anybody may have written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .archives import Archive, Archives, archive_of
from .lock_files import MODULES, LockFile, name_of, roots_of
from .shims import started_by

PROGRAMS = f"{MODULES}/.bin/"
MANIFEST = "package.json"
MAX_MANIFEST_BYTES = 10_000_000
_CHUNK = 1_000_000


class Vouching:
    """Compares what stands in `node_modules` with the archives that lock files name.

    Args:
        project: the project.
        locks: lock files as they were before the run, or made from the manifest as it was.
        archives: where archives are looked for.
        is_changed: whether a file, by relative path, was changed since the baseline.
    """

    def __init__(
        self,
        project: Path,
        locks: Sequence[LockFile],
        archives: Archives,
        is_changed: Callable[[str], bool],
    ) -> None:
        self._project = project
        self._locks = locks
        self._archives = archives
        self._is_changed = is_changed
        self._of_package: dict[str, list[Archive]] = {}

    def vouched(self, paths: Iterable[str]) -> set[str]:
        """Those of some changed files that are as the user's lock files have them.

        Args:
            paths: of files and symlinks in and below `node_modules`, relative to the project.
        """
        every = list(paths)
        found = {path for path in every if self._is_as_locked(path)}
        rest = {path: self._leads_to(path) for path in every if path not in found}
        return found | {path for path, to in rest.items() if to and self._is_right(path, to, found)}

    def missing(self, paths: Iterable[str]) -> list[str]:
        """`name@version` of what lock files name for some files, and no place has at hand."""
        found: dict[str, None] = {}
        for package in dict.fromkeys(root for path in paths for root, _ in roots_of(path)):
            if self.archives_of(package):
                continue
            names = {each.name for lock in self._locks for each in lock.archives_of(package)}
            installed = self._installed(package)
            if installed is not None and installed.name in names:
                found[f"{installed.name}@{installed.version}"] = None
        return list(found)

    def archives_of(self, package: str) -> list[Archive]:
        """What lock files name for a package's folder, as far as it is at hand."""
        if package not in self._of_package:
            found: list[Archive] = []
            for lock in self._locks:
                for locked in lock.archives_of(package):
                    archive = self._archives.get(locked.digest, of_registry=lock.is_made_anew)
                    if archive is not None and archive.name == locked.name:
                        found.append(archive)
            self._of_package[package] = found
        return self._of_package[package]

    def _is_as_locked(self, path: str) -> bool:
        candidates = [
            (root, inside, archive)
            for root, inside in roots_of(path)
            for archive in self.archives_of(root)
        ]
        if not candidates or not _is_plain(self._project / path):
            return False
        digest = _digest_of(self._project / path)
        return bool(digest) and any(
            digest == archive.files.get(inside)
            or (
                inside in archive.programs.values()
                and self._is_of_a_dependency(root, archive, inside, digest)
            )
            for root, inside, archive in candidates
        )

    def _is_of_a_dependency(self, root: str, archive: Archive, inside: str, digest: bytes) -> bool:
        """A package may put a program of a package that it needs in the place of its own
        (esbuild's does, with the one for this machine)."""
        name, modules = os.path.basename(inside), root.removesuffix(name_of(root))
        return any(
            digest == each
            for needed in archive.needs
            for place in (f"{modules}{needed}", f"{root}/{MODULES}/{needed}")
            for other in self.archives_of(place)
            for path, each in other.files.items()
            if os.path.basename(path) == name
        )

    def _leads_to(self, path: str) -> str:
        """What a link leads to, or a script in `.bin` starts; empty for any other file."""
        place = self._project / path
        target: str | None = None
        if place.is_symlink():
            target = os.readlink(place)
        elif PROGRAMS in f"/{path}":
            target = started_by(place, self._project)
        if not target:
            return ""
        # As the kernel follows it: what is judged is the file itself, by its own path.
        real = os.path.realpath(os.path.join(place.parent, target))
        return os.path.relpath(real, os.path.realpath(self._project))

    def _is_right(self, path: str, real: str, vouched: set[str]) -> bool:
        """Whether that is what its name says: in `.bin` the program that a package declares,
        elsewhere (pnpm's links) the package's folder."""
        name = os.path.basename(path)
        is_program = PROGRAMS in f"/{path}"
        if real.startswith(".."):
            return False  # nobody looks there for what was changed
        for root, inside in roots_of(real if is_program else f"{real}/{MANIFEST}")[:1]:
            if f"{root}/{MANIFEST}" in vouched:
                archives = self.archives_of(root)
            elif not self._is_changed(f"{root}/{MANIFEST}"):
                installed = self._installed(root)
                archives = [] if installed is None else [installed]
            else:
                return False
            if not is_program:
                return inside == MANIFEST and bool(archives) and name_of(path) == name_of(root)
            known = real in vouched or not self._is_changed(real)
            return known and any(each.programs.get(name) == inside for each in archives)
        return False

    def _installed(self, package: str) -> Archive | None:
        """What a package that is installed says of itself."""
        path = self._project / package / MANIFEST
        try:
            return archive_of(path.read_bytes(), {}) if _is_readable(path) else None
        except OSError:
            return None


def _is_readable(path: Path) -> bool:
    """Whether it is a file, and none that somebody has made too long for a manifest."""
    return path.is_file() and path.stat().st_size <= MAX_MANIFEST_BYTES


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _digest_of(path: Path) -> bytes:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return b""
    return digest.digest()
