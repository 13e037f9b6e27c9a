"""Walks all files below a folder in path order, without following symlinks."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import WorkspaceError
from .beneath import explained, reach
from .ignore_rules import FolderRules, RulesReader

VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
OWN_FOLDER = ".retrai"
NEVER_WALKED = VERSION_CONTROL | {OWN_FOLDER}

ENVIRONMENT_MARK = "pyvenv.cfg"
"""Stands in every virtual environment of Python, whatever the folder is called."""

_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WalkedFile(NamedTuple):
    """A file, a symlink or a special file.

    Attributes:
        path: relative to the root.
        stat: of the thing itself; a symlink is not followed.
        ignored: a `.gitignore` names it or a folder above it.
    """

    path: str
    stat: os.stat_result
    ignored: bool


StatKey = tuple[int, int, int, int, int]
"""Size, times of change of the content and of the inode in ns, inode, mode: the same for a file
that was left alone."""


def stat_key(status: os.stat_result) -> StatKey:
    """The key of a file by its stat."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_mode,
    )


@dataclass
class Listing:
    """The result of one walk, for comparison with another; without ignored files.

    Attributes:
        began_ns: when it began, by the system's clock.
        files: the key of every file, symlink and special file, by path.
        folders: the mode of every folder that was walked through.
        environments: those of the folders that are virtual environments.
        repositories: where a `.git` stands, a folder or a file, the project's own too.
        rules: what the `.gitignore` files say, by their folder; empty for the root.
    """

    began_ns: int = field(default_factory=time.time_ns)
    files: dict[str, StatKey] = field(default_factory=dict[str, StatKey])
    folders: dict[str, int] = field(default_factory=dict[str, int])
    environments: set[str] = field(default_factory=set[str])
    repositories: list[str] = field(default_factory=list[str])
    rules: dict[str, str] = field(default_factory=dict[str, str])


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
    listing: Listing | None = None,
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
        listing: is filled on the way, complete when the walk has ended.
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
        listed = _list(root, item, reader, skip, listing)
        stack.extend(found for found in reversed(listed) if with_ignored or not found.ignored)


def _list(
    root: Path,
    folder: _Folder,
    reader: RulesReader,
    skip: frozenset[str],
    listing: Listing | None,
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
                path = prefix + entry.name
                if entry.name in skip:
                    if listing is not None and entry.name == ".git" and not folder.ignored:
                        listing.repositories.append(path)
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                key = f"{path}/" if stat.S_ISDIR(status.st_mode) else path
                ignored = folder.ignored or (rules is not None and rules.ignores(key))
                if key is path:
                    found.append((key, WalkedFile(path, status, ignored)))
                else:
                    found.append((key, _Folder(path, rules, ignored, status.st_mode)))
    finally:
        os.close(handle)
    found.sort(key=lambda pair: pair[0])
    listed = [item for _, item in found]
    if listing is not None and not folder.ignored:
        _note(listing, folder, rules, listed)
    return listed


def _note(
    listing: Listing,
    folder: _Folder,
    rules: FolderRules | None,
    listed: list[WalkedFile | _Folder],
) -> None:
    if folder.path:
        listing.folders[folder.path] = folder.mode
    if rules is not None and rules is not folder.rules:
        listing.rules[folder.path] = rules.text
    files = [item for item in listed if isinstance(item, WalkedFile)]
    listing.files.update({item.path: stat_key(item.stat) for item in files if not item.ignored})
    # Whether ignored or not; a link or a pipe of that name is none.
    mark = f"{folder.path}/{ENVIRONMENT_MARK}"
    if any(item.path == mark and stat.S_ISREG(item.stat.st_mode) for item in files):
        listing.environments.add(folder.path)


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
