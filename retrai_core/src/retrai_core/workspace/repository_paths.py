"""Paths of a repository that no tool may write: configuration and hooks can run programs.

git would run them outside the sandbox, for example at the next `git status`.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path, PurePosixPath

from .tree_walk import VERSION_CONTROL

# Code points that HFS+ ignores in names, as git's `is_hfs_dotgit` has them (utf8.c).
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_SHORT_NAME = re.compile(r"(?:git|hg|svn)~\d+")
"""What NTFS calls a name that begins with a dot for programs of DOS."""


def why_not_written(root: Path, path: str) -> str | None:
    """Why a tool may not write `path`, or None.

    Refused is what has a part `.git`, `.hg` or `.svn`, in any spelling where the file system takes
    them for one name, and what lies in a folder that git would take for a repository: a `.git` that
    is a file or a symlink leads to one.

    Args:
        root: the project.
        path: relative to it, with forward slashes.
    """
    parts = PurePosixPath(path).parts
    for depth, part in enumerate(parts):
        folder = root.joinpath(*parts[:depth])
        named = part in VERSION_CONTROL or (_looks_like_one(part) and folds_case(folder))
        if named or is_repository(folder):
            return f"{path} belongs to version control and may not be changed by a tool"
    return None


def _looks_like_one(part: str) -> bool:
    """Whether a file system that folds case may take the name for one of version control."""
    plain = _IGNORED_BY_HFS.sub("", part).partition(":")[0].rstrip(". ").casefold()
    return plain in VERSION_CONTROL or _SHORT_NAME.fullmatch(plain) is not None


def folds_case(folder: Path) -> bool:
    """Whether names in the folder, or in the one above that exists, are the same in any case."""
    while not folder.is_dir():
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".retrai-case-") as file:
            return os.path.lexists(folder / os.path.basename(file.name).upper())
    except OSError:
        return True  # nothing can be written there anyway


def is_repository(folder: Path) -> bool:
    """As git decides it: `HEAD`, `objects` and `refs` (or a worktree's `commondir`)."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    # git does not ask whether these are folders.
    whole = os.path.lexists(folder / "objects") and os.path.lexists(folder / "refs")
    return whole or os.path.lexists(folder / "commondir")
