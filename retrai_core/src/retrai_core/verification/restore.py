"""Restores protected files, and moves away new files that would steer the check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from .baseline import Baseline, differing, steers
from .files import clear_place, copy_file, fingerprint, project_entries, remove
from .globs import Globs
from .refusal import Refusal

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
        clear_place(project, target)
        copy_file(folder / "files" / path, target)


def restore_check(
    project: Path,
    folder: Path,
    baseline: Baseline,
    steering: Globs,
    is_exempt: Callable[[str], bool],
    *,
    keeps: bool,
) -> list[Refusal]:
    """Put changed protected files back, and set new steering files aside; what was undone.

    What the suite itself writes is put back without a word.

    Args:
        project: the project, or a copy of it.
        folder: the baseline's folder.
        baseline: what stood before the run.
        steering: what steers the runner.
        is_exempt: whether the run may have changed or made the file.
        keeps: whether what stood in a changed file's place is kept: a person may have written it.
    """
    changed = [path for path in differing(project, baseline) if not is_exempt(path)]
    undone: list[Refusal] = []
    for path in changed:
        if path in baseline.volatile:
            continue
        source = project / path
        is_kept = keeps and source.is_file() and not source.is_symlink()
        why = "changed, but it belongs to the check; it was put back"
        undone.append(Refusal(path, why, back_up(folder, source, path) if is_kept else None))
    restore_files(project, folder, changed)
    known = set(baseline.steering)
    for path, is_link in list(project_entries(project)):
        if not steers(project, path, is_link, steering) or path in known or is_exempt(path):
            continue
        kept = back_up(folder, project / path, path)
        remove(project / path)
        undone.append(Refusal(path, "new, and would steer the check; it was set aside", kept))
    return undone


def back_up(folder: Path, source: Path, path: str) -> Path:
    """Keep a copy of what is about to be taken out of the project; where it is."""
    backup = folder / SET_ASIDE / fingerprint(source)[:12] / path
    copy_file(source, backup)
    return backup
