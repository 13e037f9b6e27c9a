"""Every file below a folder, in the order of their paths, without following a symlink."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import WorkspaceError
from .beneath import explained, reach
from .ignore_rules import FolderRules, RulesReader

VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
OWN_FOLDER = ".retrai"
NEVER_WALKED = VERSION_CONTROL | {OWN_FOLDER}

ENVIRONMENT_MARK = "pyvenv.cfg"
"""Stands in every virtual environment of Python, whatever the folder is called."""

_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """A file, a symlink or a special file.

    Attributes:
        path: relative to the root.
        stat: of the thing itself; a symlink is not followed.
        ignored: a `.gitignore` names it or a folder above it.
    """

    path: str
    stat: os.stat_result
    ignored: bool


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    rules: FolderRules | None
    ignored: bool
    mode: int = 0


def walk_tree(
    root: Path,
    start: str,
    *,
    reader: RulesReader,
    with_ignored: bool = False,
    skip: frozenset[str] = NEVER_WALKED,
    folders: dict[str, int] | None = None,
    environments: bool = True,
) -> Iterator[WalkedFile]:
    """Every file below `start`, sorted by path.

    A folder that cannot be read, or that vanishes meanwhile, is left out. No file descriptor stays
    open between two files, so an abandoned walk leaks none. When `start` itself is ignored,
    everything below it is given: whoever names such a folder wants to see it.

    Args:
        root: the project.
        start: a folder below it, with no symlink in its path.
        reader: remembers `.gitignore` files from walk to walk.
        with_ignored: also give what is ignored, marked so.
        skip: names that are left out wherever they stand.
        folders: gets the mode of every folder that is walked through, by path.
        environments: also walk through virtual environments.
    """
    above, ignored = _rules_above(root, start, reader)
    base = "" if start == "." else start
    with_ignored = with_ignored or ignored
    stack: list[WalkedFile | _Folder] = [_Folder(base, above, ignored)]
    while stack:
        item = stack.pop()
        if isinstance(item, WalkedFile):
            yield item
            continue
        listed = _list(root, item, reader, skip)
        if not environments and item.path and _is_environment(item.path, listed):
            continue
        if folders is not None and item.path:
            folders[item.path] = item.mode
        stack.extend(found for found in reversed(listed) if with_ignored or not found.ignored)


def _list(
    root: Path, folder: _Folder, reader: RulesReader, skip: frozenset[str]
) -> list[WalkedFile | _Folder]:
    """What stands in a folder; subfolders sort as `name/`, which makes the whole walk sorted."""
    try:
        handle = open_folder(root, folder.path or ".")
    except WorkspaceError:
        return []
    found: list[tuple[str, WalkedFile | _Folder]] = []
    prefix = f"{folder.path}/" if folder.path else ""
    try:
        rules = folder.rules if folder.ignored else reader.read(handle, folder.path, folder.rules)
        with os.scandir(handle) as entries:
            for entry in entries:
                if entry.name in skip:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                path = prefix + entry.name
                key = f"{path}/" if stat.S_ISDIR(status.st_mode) else path
                ignored = folder.ignored or (rules is not None and rules.ignores(key))
                if key is path:
                    found.append((key, WalkedFile(path, status, ignored)))
                else:
                    found.append((key, _Folder(path, rules, ignored, status.st_mode)))
    finally:
        os.close(handle)
    found.sort(key=lambda pair: pair[0])
    return [item for _, item in found]


def _is_environment(path: str, listed: list[WalkedFile | _Folder]) -> bool:
    """Whether it has the mark; a link or a pipe of that name is none."""
    mark = f"{path}/{ENVIRONMENT_MARK}"
    return any(
        item.path == mark and isinstance(item, WalkedFile) and stat.S_ISREG(item.stat.st_mode)
        for item in listed
    )


def _rules_above(root: Path, start: str, reader: RulesReader) -> tuple[FolderRules | None, bool]:
    """The rules that hold around `start`, and whether they ignore it."""
    rules: FolderRules | None = None
    base = ""
    for name in [] if start == "." else start.split("/"):
        try:
            handle = open_folder(root, base or ".")
        except WorkspaceError:
            return rules, False
        try:
            rules = reader.read(handle, base, rules)
        finally:
            os.close(handle)
        base = f"{base}/{name}" if base else name
        if rules is not None and rules.ignores(f"{base}/"):
            return rules, True
    return rules, False


def open_folder(root: Path, path: str) -> int:
    """A file descriptor of the folder `path`, to be listed; the caller closes it.

    Raises:
        WorkspaceError: it leaves the root, is missing, or is not a folder.
    """
    with reach(root, path) as place:
        try:
            return os.open(place.name, _LIST_FLAGS, dir_fd=place.folder)
        except NotADirectoryError:
            raise WorkspaceError(f"{path!r} is not a folder") from None
        except OSError as error:
            raise explained(error, path) from error
