"""What of /proc and /sys would let root's commands reach the kernel, and through it the machine.

A command of root's is without any capability, and still the owner of root's files. With no more it
could name a program in /proc/sys/kernel/core_pattern, which the kernel runs outside all walls when
the next process crashes. bubblewrap covers such files only where the folder could be written.
"""

from __future__ import annotations

import os
from pathlib import Path

_TRACES = ("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/pstore")
"""Readable for root alone: what other processes do, and what the kernel said when it crashed."""


def controls() -> list[Path]:
    """What is to be read-only in /proc, beside the processes: all that root could write."""
    if os.getuid() != 0:
        return []
    kernels = (path for path in Path("/proc").iterdir() if not path.name.isdigit())
    return sorted(path for path in kernels if not path.is_symlink() and _can_change(path))


def traces() -> list[Path]:
    """What is to be empty in /sys."""
    return [Path(path) for path in _TRACES if os.path.isdir(path) and _has_entries(path)]


def _can_change(path: Path) -> bool:
    """Whether it is a file that its owner may write, or holds one."""
    try:
        if not path.is_dir():
            return bool(path.stat().st_mode & 0o222)
    except OSError:
        return True
    files = (Path(place, name) for place, _, names in os.walk(path) for name in names)
    return any(_can_change(file) for file in files)


def _has_entries(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False
