"""Programs that a run's commands left for version control to run outside the sandbox.

`git status` asks `core.fsmonitor` of the project's repository and of each one inside it that is a
submodule or was added as one; hooks run at the next commit. A run may create, configure and commit
to repositories, but every setting that names a program is restored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ..storage.git_store import FILE, Entry
from ..storage.restore import put_entry
from .files import copy_file, fingerprint, folders, read_small, remove, walk
from .refusal import Refusal
from .repository_settings import included, without_programs
from .restore import back_up

COPIES = "repository_programs"
"""In the run's folder: what was there before the run."""

_CONFIGS = ("config", "config.worktree", "hgrc", "hgrc-not-shared")
_LIMIT_BYTES = 2**20


def note_programs(project: Path, run_dir: Path) -> None:
    """Copy what names programs now; an empty folder stands for what cannot be read."""
    remove(run_dir / COPIES)
    for path in _controls(project):
        target, kept = project / path, run_dir / COPIES / path
        if fingerprint(target):
            copy_file(target, kept)
        elif os.path.lexists(target):
            kept.mkdir(parents=True, exist_ok=True)


def undo_programs(
    project: Path,
    run_dir: Path,
    allowed: Callable[[str], bool],
    is_later: Callable[[Path], bool],
) -> list[Refusal]:
    """Put back what names other programs than before; what does not is left as it is.

    Args:
        project: the project.
        run_dir: the run's folder, with the copies of `note_programs`.
        allowed: whether the user lets the run change the file.
        is_later: whether somebody has changed it since the run was over.
    """
    found: list[Refusal] = []
    copies = run_dir / COPIES
    for path in sorted({*_controls(project), *(copy for copy, _ in walk(copies))}):
        target, kept = project / path, copies / path
        before, now = fingerprint(kept), fingerprint(target)
        # A hook that nobody may read can be run all the same.
        is_same = now == before and os.path.lexists(target) == os.path.lexists(kept)
        if is_same or allowed(path) or is_later(target) or not _is_reached(project, target):
            continue
        clean = b"" if _is_hook(path) else _settings_left(target, kept, project)
        if clean is None:
            continue
        backup = back_up(run_dir / "baseline", target, path) if now else None
        what = "restored" if before else "removed"
        if clean and not before:
            if not put_entry(target, Entry(FILE, ""), clean):
                what = "could not be removed, as something is in the way"
        else:
            remove(target)
            if before:
                copy_file(kept, target)
        why = f"names programs that git or Mercurial would run outside the sandbox; {what}"
        found.append(Refusal(path, why, kept=backup))
    return found


def _controls(project: Path) -> Iterator[str]:
    """Relative paths of files that may name programs, or are some."""
    seen: set[Path] = set()
    for prefix, _ in folders(project):
        folder = project / prefix
        if not _belongs_to_version_control(folder):
            continue
        for name in _CONFIGS:
            pending = [folder / name]
            while pending:
                path = pending.pop()
                if path in seen or (path == folder / name and not os.path.lexists(path)):
                    continue
                seen.add(path)
                yield path.relative_to(project).as_posix()
                data = read_small(path, _LIMIT_BYTES)
                if data is not None and b"include" in data.lower():
                    pending += included(data, path.parent, project)
        yield from _hooks(folder, prefix)


def _belongs_to_version_control(folder: Path) -> bool:
    """Whether git, or Mercurial, may take its settings from there; too many folders hurt nobody."""
    whole = os.path.lexists(folder / "objects") and os.path.lexists(folder / "refs")
    return whole or any(os.path.lexists(folder / name) for name in ("commondir", "requires"))


def _hooks(folder: Path, prefix: str) -> Iterator[str]:
    hooks = folder / "hooks"
    if hooks.is_symlink():  # as one: what it leads to may be any folder
        yield f"{prefix}hooks"
        return
    with suppress(OSError):
        for entry in os.scandir(hooks):
            if not entry.name.endswith(".sample") and not entry.is_dir(follow_symlinks=False):
                yield f"{prefix}hooks/{entry.name}"


def _is_hook(path: str) -> bool:
    return path.rpartition("/")[2] == "hooks" or path.rpartition("/")[0].endswith("hooks")


def _is_reached(project: Path, target: Path) -> bool:
    """Whether its folder is still there, with no symlink on the way to it."""
    parent = target.parent
    return parent.is_dir() and Path(os.path.realpath(parent)) == project.resolve().joinpath(
        parent.relative_to(project)
    )


def _settings_left(target: Path, kept: Path, project: Path) -> bytes | None:
    """What may be left of the file, empty for nothing; None where it may stay as it is."""
    if not os.path.lexists(target) or (target.is_dir() and not target.is_symlink()):
        return None  # without settings no program is named
    data = read_small(target, _LIMIT_BYTES)
    if data is None:
        return b""
    clean, dropped = without_programs(data, target.parent, project)
    before = read_small(kept, _LIMIT_BYTES) or b""
    known = without_programs(before, target.parent, project)[1]
    return clean if [setting for setting in dropped if setting not in known] else None
