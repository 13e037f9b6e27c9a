"""Finds the files in a project to which this process writes its output: `retrai run > out.txt`."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

_OUTPUTS = (1, 2)


def own_output(project: Path) -> frozenset[str]:
    """The files that standard output and error go to, by their paths in the project.

    A path is found once and stays, whatever is put there later: whoever went by the inode could be
    given any file of the project for it, by a hard link.
    """
    root = os.path.realpath(project) + os.sep
    paths = [path for path in map(_path_of, _OUTPUTS) if path.startswith(root)]
    return frozenset(path.removeprefix(root) for path in paths)


def _path_of(output: int) -> str:
    """The path of a regular file; empty for anything else."""
    try:
        status = os.fstat(output)
        if not stat.S_ISREG(status.st_mode):
            return ""
        # macOS has no /proc, but a call for it.
        call: int | None = getattr(fcntl, "F_GETPATH", None)
        if call is None:
            path = os.readlink(f"/proc/self/fd/{output}")
        else:
            path = os.fsdecode(fcntl.fcntl(output, call, bytes(1024)).rstrip(b"\0"))
        there = os.lstat(path)
    except OSError:  # closed, deleted, or not to be found out
        return ""
    is_it = (there.st_dev, there.st_ino) == (status.st_dev, status.st_ino)
    return path if is_it else ""
