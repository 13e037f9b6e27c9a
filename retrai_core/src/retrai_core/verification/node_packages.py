"""Packages in `node_modules` that a run changed; a clean copy is checked without the changes.

An installer changes thousands of files there, and so can a cheat; no diff shows either. What a lock
file names has a digest, so an install from the lock file of the start is what the user asked for.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..contracts.context import RunContext
from ..errors import ToolError
from ..workspace.installed import INSTALLED, is_package, stands_in_modules
from ..workspace.tree_walk import NEVER_WALKED
from .clean_copy import make_clean_copy
from .files import (
    CACHES,
    clear_place,
    copy_file,
    fingerprint,
    folders,
    is_skipped,
    remove,
    walk,
    walk_project,
)

INSTALL_TIMEOUT_S = 300.0
_NPM = ("npm", "ci", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
_BUN = ("bun", "install", "--frozen-lockfile")
_COMMANDS: Mapping[str, Sequence[str]] = {
    "npm-shrinkwrap.json": _NPM,
    "package-lock.json": _NPM,
    "pnpm-lock.yaml": ("pnpm", "install", "--frozen-lockfile"),
    "yarn.lock": ("yarn", "install", "--frozen-lockfile", "--non-interactive"),
    "bun.lock": _BUN,
    "bun.lockb": _BUN,
}
"""By lock file, the command that installs what it names and nothing else."""
_NAMES = ", ".join(_COMMANDS)
_CACHES = ("npm_config_cache", "YARN_CACHE_FOLDER", "BUN_INSTALL_CACHE_DIR")
_HAS_SCRIPTS = b'"hasInstallScript": true'
_SETTINGS = ".npmrc"
_SHOWN = 300
_SKIPPED = NEVER_WALKED | CACHES | {INSTALLED}


@dataclass(frozen=True, slots=True)
class NodePackages:
    """Finds what a run changed in `node_modules`, and restores the user's packages in a copy.

    Attributes:
        context: the run.
        folder: keeps the lock files of the start.
        is_allowed: whether the user lets the run change a file.
    """

    context: RunContext
    folder: Path
    is_allowed: Callable[[str], bool]

    def keep_lock_files(self) -> None:
        """Keep the project's lock files and npm's settings as they are now."""
        for path in walk_project(self.context.project):
            if os.path.basename(path) in (*_COMMANDS, _SETTINGS):
                copy_file(self.context.project / path, self.folder / path)

    def changed(self, since_s: float) -> list[str]:
        """Files and links of packages that were changed or added, by relative path.

        Args:
            since_s: seconds since the epoch.
        """
        project = self.context.project
        return [
            path
            for modules in package_folders(project)
            for path in _changed(project, modules, since_s)
            if not self.is_allowed(path)
        ]

    def have_scripts(self) -> bool:
        """Whether a lock file of the start says that a package has install scripts."""
        return any(
            _HAS_SCRIPTS in path.read_bytes()
            for path in self.folder.rglob("*")
            if path.name in _COMMANDS
        )

    async def install(
        self, copy: Path, changed: Sequence[str], room: Path, *, with_scripts: bool
    ) -> None:
        """Install the packages of a copy from the lock files of the start.

        Args:
            copy: of the project.
            changed: what the run changed; only the lock files that are about that count.
            room: an empty folder, for caches.
            with_scripts: run the install scripts of the packages too.

        Raises:
            ToolError: they cannot be installed, and why.
        """
        for lock, is_known in await asyncio.to_thread(self._prepare, copy, changed):
            message = f"installs the packages anew from {lock}: the run changed what is installed"
            self.context.publish("log", level="info", message=message)
            command = [*_COMMANDS[lock.name], *([] if with_scripts else ["--ignore-scripts"])]
            place = copy / lock.parent
            if command[0] == "npm" and is_known:
                # The agent may have written there: npm compares it with digests of the user's.
                users = Path(os.environ.get("npm_config_cache") or Path.home() / ".npm")  # noqa: SIM112
                with suppress(ToolError):
                    await self._run([*command, "--offline"], copy, place, users, readable=[users])
                    continue
            await self._run(command, copy, place, room, writable=[room])
            if not is_known:
                await asyncio.to_thread(self._refuse_own_archives, copy, lock)

    def restore_as_changed(self, copy: Path) -> None:
        """Give a copy the packages as they stand in the project."""
        for folder in package_folders(self.context.project):
            clear_place(copy, copy / folder)
            if (self.context.project / folder).is_symlink():
                copy_file(self.context.project / folder, copy / folder)
            else:
                make_clean_copy(self.context.project / folder, copy / folder)

    def _lock_of(self, folder: str) -> Path | None:
        """The lock file of the start that stands nearest above a `node_modules`."""
        places = (above / name for above in Path(folder).parents for name in _COMMANDS)
        return next((place for place in places if (self.folder / place).is_file()), None)

    def _prepare(self, copy: Path, changed: Sequence[str]) -> list[tuple[Path, bool]]:
        """Clear the way for an install; the lock files, each with whether it is that of the start.

        Raises:
            ToolError: there is none, or it cannot be used.
        """
        lock_of = {
            folder: self._lock_of(folder) for folder in package_folders(self.context.project)
        }
        found: dict[Path, bool] = {}
        for folder, lock in lock_of.items():
            if not any(f"{path}/".startswith(f"{folder}/") for path in changed):
                continue
            if lock is None:
                raise ToolError(f"there was no lock file when the run began ({_NAMES})")
            found[lock] = self._take_lock(copy, lock)
        for folder, lock in lock_of.items():
            if lock in found:
                clear_place(copy, copy / folder)
        return list(found.items())

    def _take_lock(self, copy: Path, lock: Path) -> bool:
        """Let a copy have a lock file to install from, with npm's settings as they were.

        Returns:
            whether it is that of the start.
        """
        settings = lock.with_name(_SETTINGS)
        clear_place(copy, copy / settings)
        if (self.folder / settings).is_file():
            copy_file(self.folder / settings, copy / settings)
        if not (copy / lock).is_file():
            clear_place(copy, copy / lock)
            copy_file(self.folder / lock, copy / lock)
        is_known = fingerprint(copy / lock) == fingerprint(self.folder / lock)
        if not is_known and _COMMANDS[lock.name] is not _NPM:
            raise ToolError(f"the run changed {lock} too")
        return is_known

    def _refuse_own_archives(self, copy: Path, lock: Path) -> None:
        """Of a lock file that the run changed, no archive or repository of the run's counts."""
        known = _sources(self.folder / lock)
        for source in _sources(copy / lock.parent / INSTALLED / ".package-lock.json") - known:
            if source[0] and not source[0].startswith(("http://", "https://")):
                raise ToolError(f"the run added {source[0]}, which is of no registry")

    async def _run(
        self,
        command: Sequence[str],
        copy: Path,
        folder: Path,
        cache: Path,
        *,
        writable: Sequence[Path] = (),
        readable: Sequence[Path] = (),
    ) -> None:
        program = await asyncio.to_thread(shutil.which, command[0])
        if program is None:
            raise ToolError(f"{command[0]} is not installed")
        done = await self.context.sandbox.run(
            [program, *command[1:]],
            timeout_s=INSTALL_TIMEOUT_S,
            cwd=folder,
            env={"CI": "true", "NO_COLOR": "1", **dict.fromkeys(_CACHES, str(cache))},
            writable=[copy, *writable],
            readable=readable,
        )
        if done.exit_code != 0 or done.timed_out:
            said = " ".join(f"{done.stdout} {done.stderr}".split())[:_SHOWN]
            raise ToolError(self.context.redact(f"`{' '.join(command[:2])}` failed: {said}"))


def take_out(copy: Path, paths: Sequence[str]) -> None:
    """Remove files from a copy, and folders that become empty: a resolver stops at those."""
    for path in paths:
        remove(copy / path)
        with suppress(OSError):  # there is more in it
            os.removedirs((copy / path).parent)


def package_folders(project: Path) -> Iterator[str]:
    """Every `node_modules` of the project that is in no other, by relative path."""
    for prefix, _ in folders(project, lambda entry: is_skipped(entry, _SKIPPED)):
        if os.path.lexists(project / prefix / INSTALLED):
            yield f"{prefix}{INSTALLED}"


def _changed(project: Path, modules: str, since_s: float) -> list[str]:
    place = project / modules
    # In `node_modules` itself, what is no package is a cache or a note of a tool.
    found = walk(place.resolve(), lambda e: stands_in_modules(e) and not is_package(e.name))
    newer = (f"{modules}/{path}" for path, entry in found if _is_newer(entry.path, since_s))
    if not place.is_symlink():
        return list(newer)
    # What is behind it counts too, wherever it is.
    return [modules] if _is_newer(place, since_s) or any(newer) else []


def _is_newer(path: str | Path, since_s: float) -> bool:
    try:
        # The change time cannot be set back, unlike that of the content.
        return os.lstat(path).st_ctime > since_s
    except OSError:
        return False  # gone since it was listed


def _sources(lock: Path) -> set[tuple[str, str]]:
    """Where npm's lock file has packages from, each with its digest; links have none."""
    packages: Mapping[str, Any] = {}
    with suppress(OSError, ValueError, KeyError):
        packages = json.loads(lock.read_bytes())["packages"]
    return {
        (entry.get("resolved", ""), entry.get("integrity", ""))
        for entry in packages.values()
        if not entry.get("link")
    }
