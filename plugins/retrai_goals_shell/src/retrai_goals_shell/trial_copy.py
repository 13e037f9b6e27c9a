"""A copy of a project for one trial, removed afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from retrai_core import make_clean_copy
from retrai_goal_support import fresh_folder

WITHOUT = frozenset({".git", ".hg", ".svn"})
"""No trial may read what the history holds; a held-out test can be in it."""


@dataclass(frozen=True, slots=True)
class TrialCopy:
    """A copy in a folder that a trial may write.

    Attributes:
        room: the folder around the copy.
        folder: the copy.
    """

    room: Path
    folder: Path


def temporary_folders(fresh: Path) -> dict[str, str]:
    """The variables that give a program an empty folder for what it keeps between runs."""
    return {"TMPDIR": str(fresh), "XDG_CACHE_HOME": str(fresh / "cache")}


@asynccontextmanager
async def trial_copy(project: Path, home: Path) -> AsyncGenerator[TrialCopy]:
    """Copy a project, and remove the copy in the end.

    Nothing in it is the project's own, so that what a trial writes, into `target/` say, is not
    written there. Virtual environments are links, since they work nowhere else. Packages that are
    links in a clean copy stay links: no command can write into them.

    Args:
        project: what is copied, the project or a clean copy of it.
        home: the project, whose virtual environments a command may name.

    Raises:
        OSError: it could not be made.
    """
    async with fresh_folder("tmp") as room:
        folder = room / "copy" / project.name
        await asyncio.to_thread(make_clean_copy, project, folder, without=WITHOUT)
        await asyncio.to_thread(_link_environments, folder, home)
        yield TrialCopy(room, folder)


def _link_environments(folder: Path, home: Path) -> None:
    for entry in os.scandir(home):
        if not os.path.isfile(f"{entry.path}/pyvenv.cfg") or entry.is_symlink():
            continue
        place = folder / entry.name
        with suppress(OSError):  # it is not there, or it is no mere mount point
            place.rmdir()
        if not os.path.lexists(place):
            place.symlink_to(entry.path)
