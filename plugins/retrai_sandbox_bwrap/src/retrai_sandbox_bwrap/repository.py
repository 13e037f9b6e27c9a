"""What of the project's repository commands may not change: what names programs for git to run.

git runs them later, outside the sandbox, as soon as somebody asks it for the project's status.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .places import is_plain

_CONTROL = ("config", "config.worktree", "hooks")
_ELSEWHERE = "commondir"
"""A file that sends git to another folder for its configuration (gitrepository-layout(5))."""


def anchored(project: Path) -> Iterator[Path]:
    """What is mounted upon itself, writable as it is: so that it cannot be moved out of the way."""
    git = project / ".git"
    if git.is_dir() and is_plain(git, project):
        yield git


def kept(project: Path) -> Iterator[Path]:
    """What is read-only: of those, what exists; in a linked worktree, the file that is `.git`."""
    git = project / ".git"
    if not is_plain(git, project):
        return
    if not git.is_dir():
        yield git
        return
    with suppress(OSError):  # an empty one hurts nobody, and nothing can be put in its place
        (git / "hooks").mkdir()
        if os.geteuid() == 0:
            os.chown(git / "hooks", git.stat().st_uid, git.stat().st_gid)
    yield from (git / name for name in _CONTROL if is_plain(git / name, project))


class Detour:
    """The file that leads git elsewhere: not to be there after a command, if it was not before.

    It cannot be kept from being made: what is mounted must exist, and git fails at an empty one.
    """

    def __init__(self, project: Path) -> None:
        self._path = project / ".git" / _ELSEWHERE
        self._was_there = os.path.lexists(self._path)

    def remove(self) -> str:
        """Remove it; what is to be told of that, or nothing."""
        git = self._path.parent
        if self._was_there or git.is_symlink() or not os.path.lexists(self._path):
            return ""
        try:
            self._path.unlink()
        except OSError as error:
            return f"[.git/{_ELSEWHERE} leads git elsewhere, and cannot be removed: {error}]\n"
        return f"[the sandbox removed .git/{_ELSEWHERE}: it would lead git elsewhere]\n"
