"""Tells retrai which files in `node_modules` are what the user's lock file or manifest asks for."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from retrai_core import InstalledFiles, hookimpl

# Before the run's first turn, so that what it changes later is not what vouches.
from .installed.asking import vouched


class NpmPackages:
    """Vouches for installed packages by lock files, and by what the npm registry has."""

    @hookimpl
    async def vouch_for_installed(self, files: InstalledFiles) -> AsyncGenerator[set[str], None]:
        """What the user's lock files and npm's cache vouch for; then, with the registry, more."""
        async for more in vouched(files):
            yield more
