"""Finds the descendants of a process; complete on Linux, partial elsewhere."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True) if _LINUX else None


def has_children() -> bool:
    """Whether this process has children that it has not reaped; of a subreaper: descendants."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def parents_now() -> dict[int, int]:
    """The parent of every process, by process id; from /proc, and empty where there is none."""
    parents: dict[int, int] = {}
    if not _LINUX:
        return parents
    try:
        names = os.listdir("/proc")
    except OSError:
        return parents  # not mounted: orphans are still ours to reap, but cannot be found
    for name in names:
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # The name in brackets may hold anything, brackets too.
                parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    return parents


def descendants(ancestor: int, parents: Mapping[int, int]) -> list[int]:
    """The processes below `ancestor`."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = children.pop(ancestor, [])
    for pid in found:  # which grows meanwhile
        found += children.pop(pid, ())  # once: numbers read one after the other may form a ring
    return found


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone."""
    with suppress(OSError):  # it has ended, or belongs to somebody else
        os.kill(pid, number)


def become_subreaper() -> None:
    """Become the parent of every orphan below this process, as init is of others."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(keeper: int) -> None:
    """Ask the kernel to kill this process when its parent, `keeper`, ends."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != keeper:  # it died before the kernel knew
            os._exit(127)
