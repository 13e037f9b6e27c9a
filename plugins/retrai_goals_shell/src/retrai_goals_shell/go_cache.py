"""Where go keeps what it has built for a run."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class GoCache:
    """Go's cache for checks in place, and for each check of a copy one of its own.

    Programs that are tested may write to the cache that go uses, so what the agent's code could
    have put there must not decide about a clean copy. Building the standard library anew for each
    copy takes seconds, with Go 1.20 and later half a minute: a copy's cache begins with what was
    there after the first check, before the agent's first turn.

    Args:
        folder: the goal's folder in the run's own, which the agent cannot write to.
    """

    def __init__(self, folder: Path) -> None:
        self._in_place = folder / "cache"
        self._first = folder / "built"
        self._folder = folder

    @asynccontextmanager
    async def of(self, in_place: bool) -> AsyncGenerator[Path]:
        """The folder for one call of go."""
        if in_place:
            await asyncio.to_thread(self._in_place.mkdir, parents=True, exist_ok=True)
            yield self._in_place
            return
        own = await asyncio.to_thread(self._of_a_copy)
        try:
            yield own
        finally:
            await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)

    async def keep_first(self) -> None:
        """Keep what the first check has built; later calls change nothing."""
        await asyncio.to_thread(self._keep_first)

    def _of_a_copy(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(prefix="copy-", dir=self._folder))
        if self._first.is_dir():
            with suppress(OSError):  # no room: it builds what is missing, and says so if it cannot
                shutil.copytree(self._first, own, dirs_exist_ok=True)
        return own

    def _keep_first(self) -> None:
        if self._first.exists():
            return
        half = self._folder / "built.new"
        shutil.rmtree(half, ignore_errors=True)
        with suppress(OSError):  # no room: then each copy builds for itself
            shutil.copytree(self._in_place, half)
            half.rename(self._first)
