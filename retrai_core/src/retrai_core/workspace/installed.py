"""Which files of a project are packages that a package manager installed."""

from __future__ import annotations

import os

INSTALLED = "node_modules"
"""Where packages stand beside the sources; no snapshot holds them, wherever it is."""
_WITH_DOT = frozenset({".bin", ".bun", ".pnpm", ".store"})


def is_package(name: str) -> bool:
    """Whether an entry of `node_modules` is a package, or programs or a store of packages.

    Other names with a dot are caches and notes of tools.
    """
    return not name.startswith(".") or name in _WITH_DOT


def is_package_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is the folder of a package in a `node_modules`, or a store of packages."""
    if not entry.is_dir(follow_symlinks=False):
        return False
    folder, name = os.path.split(entry.path)
    above, scope = os.path.split(folder)
    if scope.startswith("@"):
        return os.path.basename(above) == INSTALLED
    # The programs in `.bin` may be those of the project's own packages.
    return scope == INSTALLED and name[0] != "@" and name != ".bin" and is_package(name)


def stands_in_modules(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is one of a `node_modules`."""
    return os.path.basename(os.path.dirname(entry.path)) == INSTALLED
