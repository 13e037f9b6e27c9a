"""Restores protected files, and moves away new files that would steer the check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from .files import copy_file, fingerprint, project_entries, remove
from .globs import Globs
from .refusal import Refusal
from .steering import steers

SET_ASIDE = "set_aside"
"""In the baseline's folder: what was taken out of the project, below a hash of each."""


def restore_files(project: Path, folder: Path, paths: Iterable[str]) -> None:
    """Put the baseline's copies of `paths` back, whatever stands in their way.

    Args:
        project: the project.
        folder: the baseline's folder.
        paths: relative ones.
    """
    for path in paths:
        target = project / path
        for parent in reversed(target.relative_to(project).parents):
            above = project / parent
            if above.is_symlink() or (above.exists() and not above.is_dir()):
                remove(above)
        remove(target)
        copy_file(folder / "files" / path, target)


def restore_changed(
    project: Path, folder: Path, changed: Sequence[str], volatile: Collection[str], *, keeps: bool
) -> list[Refusal]:
    """Restore changed files and say so, but for what the suite itself writes.

    Args:
        project: the project.
        folder: the baseline's folder.
        changed: relative paths.
        volatile: those that the suite writes.
        keeps: whether what stood there is copied to `set_aside/` in the baseline's folder first: a
            person may have written it.
    """
    undone = [path for path in changed if path not in set(volatile)]
    kept: dict[str, Path] = {}
    for path in undone if keeps else ():
        source = project / path
        if source.is_file() and not source.is_symlink():
            kept[path] = backup_path(folder, source, path)
            copy_file(source, kept[path])
    restore_files(project, folder, changed)
    why = "changed, but it belongs to the check; it was put back"
    return [Refusal(path, why, kept.get(path)) for path in undone]


def backup_path(folder: Path, source: Path, path: str) -> Path:
    """Where to keep what is taken out of the project."""
    return folder / SET_ASIDE / fingerprint(source)[:12] / path


def set_aside(
    project: Path,
    folder: Path,
    steering: Globs,
    allowed: Callable[[str], bool],
    known: Collection[str],
) -> list[Refusal]:
    """Move new steering files to `set_aside/` in the baseline's folder; what was moved.

    Args:
        project: the project.
        folder: the baseline's folder.
        steering: what steers the runner.
        allowed: whether the run may have made the file.
        known: steering files that were there before the run.
    """
    found: list[Refusal] = []
    for path, is_link in list(project_entries(project)):
        if not steers(project, path, is_link, steering):
            continue
        if path in known or allowed(path):
            continue
        source = project / path
        backup = backup_path(folder, source, path)
        copy_file(source, backup)
        remove(source)
        found.append(Refusal(path, "new, and would steer the check; it was set aside", backup))
    return found
