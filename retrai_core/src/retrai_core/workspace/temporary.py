"""Temporary folders with an owner mark, so that leftovers of a killed process can be removed."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from .lock import is_alive

_NAME = re.compile(r"(?:retrai-[a-z]+|tmp)-(?P<process>\d+)\.(?P<space>\d+)-\w+")


def temporary_prefix(start: str) -> str:
    """The first part of a temporary folder's name, for `tempfile`.

    A later run removes the folder if this process ends without doing so.

    Args:
        start: `retrai-` and what the folder is for, in lower-case letters; or `tmp`, where nobody
            is to see that it is retrai's.

    Example:
        >>> temporary_prefix("retrai-report").startswith(f"retrai-report-{os.getpid()}.")
        True
    """
    return f"{start}-{os.getpid()}.{_process_space()}-"


@asynccontextmanager
async def fresh_folder(start: str) -> AsyncGenerator[Path]:
    """A new folder, which is removed in the end; if this run is killed, a later run removes it.

    Files that cannot be removed are left. It is made and removed in a thread, since many files take
    time.

    Args:
        start: how its name begins, as for `temporary_prefix`.

    Example:
        >>> async def use() -> bool:
        ...     async with fresh_folder("retrai-shop") as room:
        ...         (room / "kept").write_text("x")
        ...     return room.exists()
        >>> asyncio.run(use())
        False
    """
    folder = await asyncio.to_thread(
        lambda: tempfile.TemporaryDirectory(
            prefix=temporary_prefix(start), ignore_cleanup_errors=True
        )
    )
    try:
        yield await asyncio.to_thread(Path(folder.name).resolve)
    finally:
        await asyncio.to_thread(folder.cleanup)


def remove_left_folders() -> None:
    """Remove this user's temporary folders whose process is gone.

    A number counts as one of a process only among processes that can be seen from here: a folder
    of another container's is left alone, as is a link.
    """
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            with suppress(OSError):  # somebody else removes it
                if _is_left(entry):
                    remove_tree(Path(entry.path))


def _is_left(entry: os.DirEntry[str]) -> bool:
    match = _NAME.fullmatch(entry.name)
    if match is None or match["space"] != _process_space():
        return False
    status = entry.stat(follow_symlinks=False)
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_ours and not is_alive(int(match["process"]))


def _process_space() -> str:
    """The number of the PID namespace (pid_namespaces(7)); 0 on systems without."""
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        return "0"


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, whatever rights a command took from that."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    folder.chmod(stat.S_IRWXU)
    for place, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
