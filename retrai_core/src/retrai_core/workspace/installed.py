"""Which files of a project are installed packages: those that a package manager has put there."""

from __future__ import annotations

from pathlib import PurePosixPath

INSTALLED = "node_modules"
"""Where packages stand beside the sources; no snapshot holds them, wherever it is."""


def package_of(path: str) -> str:
    """The folder of the innermost package that a file belongs to; empty for any other file.

    Example:
        >>> package_of("node_modules/@scope/a/lib/index.js")
        'node_modules/@scope/a'
        >>> package_of("node_modules/a/node_modules/b/index.js")
        'node_modules/a/node_modules/b'
        >>> package_of("node_modules/.bin")
        ''
    """
    parts = PurePosixPath(path).parts
    for at in reversed(range(len(parts))):
        end = at + (3 if parts[at + 1 : at + 2] and parts[at + 1].startswith("@") else 2)
        if parts[at] == INSTALLED and end < len(parts):
            return PurePosixPath(*parts[:end]).as_posix()
    return ""
