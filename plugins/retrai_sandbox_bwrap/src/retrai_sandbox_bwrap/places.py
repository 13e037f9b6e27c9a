"""Paths: which lie in which, and which of several are enough."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def within(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies below it, by name."""
    return path.parts[: len(folder.parts)] == folder.parts


def outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lie in another of them, sorted."""
    kept: list[Path] = []
    for path in sorted(set(paths)):
        if not any(within(path, folder) for folder in kept):
            kept.append(path)
    return kept


def is_plain(path: Path, folder: Path) -> bool:
    """Whether `path` exists in `folder` with no symlink on the way: a command could have put one
    there, so that something else would be mounted."""
    try:
        real = os.path.realpath(path, strict=True)
    except OSError:
        return False
    return real == os.path.join(os.path.realpath(folder), path.relative_to(folder))
