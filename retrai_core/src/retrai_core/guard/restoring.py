"""Puts protected files back, and sets new files aside that would steer the check."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from .files import copy_file, fingerprint, project_entries, remove
from .globs import Globs
from .refusal import Refusal
from .steering import steers


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


def set_aside(
    project: Path, folder: Path, steering: Globs, allowed: Globs, known: Collection[str]
) -> list[Refusal]:
    """Move new steering files to `set_aside/` in the baseline's folder; what was moved.

    Args:
        project: the project.
        folder: the baseline's folder.
        steering: what steers the runner.
        allowed: what the user lets the run change.
        known: steering files that were there before the run.
    """
    found: list[Refusal] = []
    for path, is_link in list(project_entries(project)):
        if not steers(project, path, is_link, steering):
            continue
        if path in known or allowed.match(path):
            continue
        source = project / path
        copy_file(source, folder / "set_aside" / fingerprint(source)[:12] / path)
        remove(source)
        found.append(Refusal(path, "new, and would steer the check; it was set aside"))
    return found
