"""Which goals fit a project, for the commands that the user gave none."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from ..plugins.catalog import Catalog
from ..plugins.detect import DetectedGoal


def fitting_goals(catalog: Catalog, project: Path) -> list[DetectedGoal]:
    """The goals that `project` shows a marker of, the most likely first; one entry a goal.

    Raises:
        UsageError: none does; the hint names the distributions that would bring one.
    """
    if not project.is_dir():
        raise UsageError(f"no such folder: {project}", hint="give the project's folder with -C DIR")
    by_name: dict[str, DetectedGoal] = {}
    for found in catalog.detect(project):
        by_name.setdefault(found.record.name, found)
    if not by_name:
        brings = catalog.installable_for(project)
        hint = (
            f"`pip install {' '.join(brings)}` brings goals for what lies there"
            if brings
            else "name a goal; `retrai plugins list --kind goal` shows them"
        )
        raise UsageError(f"no installed goal fits {project.resolve()}", hint=hint)
    return list(by_name.values())
