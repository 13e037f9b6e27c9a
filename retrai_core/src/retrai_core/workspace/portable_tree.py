"""The part of a tree's state that is the same in every copy of the project.

It excludes ignored files, version control, virtual environments, installed packages and byte code,
which a fresh clone does not have. So a receipt can be compared with a clone.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from .installed import INSTALLED
from .tree_hash import TreeHasher, TreeState
from .tree_walk import ENVIRONMENT_MARK


def tree_files(project: Path, without: Collection[str] = ()) -> dict[str, str]:
    """What each file of a project is now, by relative path: the same in every copy of the tree.

    A value is `f:`, `x:` (executable) or `l:` (symlink) and a SHA-256. Ignored files, version
    control, virtual environments and installed packages are left out. It reads every file, so call
    it in a thread.

    Args:
        project: the project's folder.
        without: paths to leave out.
    """
    return portable_files(TreeHasher(project).state(with_ignored=False).without(without))


def portable_files(state: TreeState) -> dict[str, str]:
    """What each file is, by relative path: `f:`, `x:` (executable) or `l:` (symlink) and a SHA-256.

    Bytes of a name that are not UTF-8 are written as `\\xe9`, so that JSON can hold it.

    Args:
        state: the tree as a `TreeHasher` saw it.
    """
    environments = {
        PurePosixPath(path).parent
        for path in state.files
        if PurePosixPath(path).name == ENVIRONMENT_MARK
    }
    return {
        os.fsencode(path).decode(errors="backslashreplace"): f"{file.kind}:{file.digest}"
        for path, file in sorted(state.files.items())
        if file.kind != "o" and not _belongs_elsewhere(PurePosixPath(path), environments)
    }


def tree_digest(files: Mapping[str, str]) -> str:
    """One SHA-256 over all files, as `tree_files` gives them, in hexadecimal.

    Example:
        >>> tree_digest({}) == hashlib.sha256().hexdigest()
        True
    """
    whole = hashlib.sha256()
    for path, known in sorted(files.items()):
        whole.update(os.fsencode(path) + b"\0" + known.encode() + b"\n")
    return whole.hexdigest()


def _belongs_elsewhere(path: PurePosixPath, environments: set[PurePosixPath]) -> bool:
    if path.suffix in (".pyc", ".pyo") or INSTALLED in path.parts[:-1]:
        return True
    return bool(environments) and any(parent in environments for parent in path.parents)
