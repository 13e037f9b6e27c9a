"""Capabilities of the file system of a project."""

from __future__ import annotations

import os
from pathlib import Path


def is_read_only(folder: Path) -> bool:
    """Whether nobody can write there: its file system is mounted so."""
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
