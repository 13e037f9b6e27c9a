"""Where go keeps what it has built for a run."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


@asynccontextmanager
async def go_cache(folder: Path, is_in_place: bool) -> AsyncGenerator[Path]:
    """Go's cache for one check: that of all checks in place, or for a copy one of its own.

    Programs that are tested may write to the cache that go uses, so what the agent's code could
    have put there must not decide about a clean copy. Building the standard library anew for each
    copy takes seconds, with Go 1.20 and later half a minute: a copy's cache begins with what the
    first check has built, before the agent's first turn.

    Args:
        folder: the goal's folder in the run's own, which the agent cannot write to.
        is_in_place: go runs in the project itself.
    """
    cache, first = folder / "cache", folder / "built"
    if is_in_place:
        await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
        yield cache
        return
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    own = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="copy-", dir=folder))
    try:
        await asyncio.to_thread(_copy, first, own)
        yield own
    finally:
        await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)


async def keep_first_build(folder: Path) -> None:
    """Keep what the first check has built; later calls change nothing."""
    if not (folder / "built").exists():
        await asyncio.to_thread(_copy, folder / "cache", folder / "built")


def _copy(source: Path, target: Path) -> None:
    # No room, or nothing there: what is missing is built, and go says so if it cannot.
    with suppress(OSError):
        shutil.copytree(source, target, dirs_exist_ok=True)
