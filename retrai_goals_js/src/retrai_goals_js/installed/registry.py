"""Asks the user's npm registry for what a lock file or manifest names, through the run's sandbox.

Only a sandbox with a network gets an answer. No script of a package is run, and nothing of it
reaches the project.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from retrai_core import Sandbox, ToolError

from .lock_files import LockFile

FETCH_TIMEOUT_S = 180.0
MAX_PACKAGES = 3_000
_AT_ONCE = 200
_QUIET = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=500",
    "--fetch-timeout=30000",
    "--loglevel=error",
)
# Nothing but a name and a version: npm takes addresses and folders in their place, too.
_SPEC = re.compile(r"(?:@[a-z0-9~-][\w.~-]*/)?[A-Za-z0-9~-][\w.~-]*@\d[\w.+-]*")


def user_cache() -> Path:
    """Where npm keeps what the user's own commands fetched."""
    named = os.environ.get("npm_config_cache")  # noqa: SIM112 (npm's own spelling)
    return Path(named) if named else Path.home() / ".npm"


class Registry:
    """The registry, as npm knows it.

    Args:
        sandbox: the run's.
        room: an empty folder outside the project.
    """

    def __init__(self, sandbox: Sandbox, room: Path) -> None:
        self._sandbox = sandbox
        self._room = room
        self.cache = room / "fetched"
        """Holds what `fetch` has fetched; a lock file may be made of archives from anywhere."""

    async def fetch(self, specs: Sequence[str], files: Mapping[str, str]) -> None:
        """Fetch archives into the cache; what cannot be had is left out.

        Args:
            specs: `name@version` each; others are passed over.
            files: what npm reads beside it (`.npmrc`), by name.
        """
        # With a manifest of its own npm looks for none, nor for settings, in folders above.
        folder = self._lay_out("fetch", {**files, "package.json": "{}"})
        good = [spec for spec in specs if _SPEC.fullmatch(spec)][:MAX_PACKAGES]
        for at in range(0, len(good), _AT_ONCE):
            words = ["cache", "add", "--no-workspaces", *good[at : at + _AT_ONCE]]
            # One that is missing ends the whole command; what was fetched stays.
            for _ in range(2):
                if await self._npm(words, folder, self.cache):
                    break
            else:
                return

    async def lock(self, files: Mapping[str, str], folder: str) -> LockFile | None:
        """A lock file made anew from manifests; None where the registry does not answer.

        Args:
            files: package.json, those of workspaces, `.npmrc` and what the user locked, by path.
            folder: where they stand in the project.
        """
        place = self._lay_out("lock", files)
        done = await self._npm(["install", "--package-lock-only"], place, self._room / "cache")
        try:
            text = (place / "package-lock.json").read_text("utf-8", errors="replace")
        except OSError:
            return None
        return LockFile(folder, text, placed=False) if done else None

    def _lay_out(self, name: str, files: Mapping[str, str]) -> Path:
        folder = self._room / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder

    async def _npm(self, words: Sequence[str], folder: Path, cache: Path) -> bool:
        npm = shutil.which("npm")
        if npm is None:
            return False
        try:
            done = await self._sandbox.run(
                [npm, *words[:1], *_QUIET, f"--cache={cache}", *words[1:]],
                timeout_s=FETCH_TIMEOUT_S,
                cwd=folder,
                env={"CI": "true", "NO_COLOR": "1"},
                writable=[self._room],
            )
        except ToolError:
            return False
        return done.exit_code == 0 and not done.timed_out
