"""Where go keeps what it has built for a run."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from retrai_core import ToolError


@asynccontextmanager
async def go_cache(folder: Path, is_in_place: bool) -> AsyncGenerator[Path]:
    """Go's cache for one check: that of all checks in place, or that of copies.

    Programs that are tested may write to the cache that go uses, so what the agent's code could
    have put there must not decide about a clean copy. Building the standard library anew for each
    copy takes seconds, with Go 1.20 and later half a minute: for each copy the cache is brought
    back to what the first check has built, before the agent's first turn.

    Args:
        folder: the goal's folder in the run's own, which the agent cannot write to.
        is_in_place: go runs in the project itself.

    Raises:
        ToolError: what an earlier check left there cannot be removed.
    """
    cache = folder / ("cache" if is_in_place else "cache-of-copies")
    await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
    if not is_in_place:
        try:
            await asyncio.to_thread(_bring_back, cache, folder / "built")
        except OSError as error:
            raise ToolError(f"go's cache cannot be used again: {error}") from error
    yield cache


async def keep_first_build(folder: Path) -> None:
    """Keep what the first check has built; later calls change nothing."""
    if not (folder / "built").exists():
        await asyncio.to_thread(_copy, folder / "cache", folder / "built")


def _bring_back(folder: Path, source: Path) -> None:
    """Make a folder hold what another one does, and nothing else.

    New files cost most, so those stay that are the same, byte for byte.
    """
    for entry in list(os.scandir(folder)):
        known = source / entry.name
        if entry.is_dir(follow_symlinks=False):
            if known.is_dir():
                _bring_back(Path(entry), known)
            else:
                shutil.rmtree(entry)
        elif not (known.is_file() and entry.is_file(follow_symlinks=False) and _same(entry, known)):
            os.unlink(entry)
    _copy(source, folder)


def _same(one: os.DirEntry[str], other: Path) -> bool:
    return (
        one.stat().st_size == other.stat().st_size and Path(one).read_bytes() == other.read_bytes()
    )


def _copy(source: Path, target: Path) -> None:
    """Copy what is not there."""
    # No room, or nothing there: what is missing is built, and go says so if it cannot.
    with suppress(OSError):
        shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_new)


def _copy_new(source: str, target: str) -> None:
    if not os.path.lexists(target):
        shutil.copyfile(source, target)
