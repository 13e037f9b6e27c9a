"""Detects the goals of a project from the markers in the manifests alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .entry import MarkerEntry
from .record import PluginRecord

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class DetectedGoal:
    """A goal whose marker is in a project.

    Attributes:
        record: the goal, not loaded.
        marker: the one with the lowest priority of those that were found.
        evidence: what was found, for people (`pyproject.toml: [tool.pytest`).
    """

    record: PluginRecord
    marker: MarkerEntry
    evidence: str


def detect_goals(goals: Iterable[PluginRecord], project: Path) -> list[DetectedGoal]:
    """The goals with a marker in `project`, the lowest priority first, then by name."""
    found = [hit for record in goals if (hit := _first_hit(record, project)) is not None]
    return sorted(found, key=lambda hit: (hit.marker.priority, hit.record.name, hit.record.dist))


def marker_examples(goals: Iterable[PluginRecord]) -> list[tuple[str, str]]:
    """A file that would be a marker, and its goal: `("test_x.py", "pytest")`.

    The lowest priority comes first. A goal that is found only by what stands in a file names that
    too: `("Makefile with test:", "make-test")`.
    """
    found: list[tuple[int, str, str]] = []
    for record in goals:
        plain = [marker for marker in record.markers if not marker.contains]
        # A test of any name serves a newcomer more than one of the runner's own files.
        of_any_name = [marker for marker in plain if "*" in marker.glob]
        first = next(iter([*of_any_name, *plain, *reversed(record.markers)]), None)
        if first is not None:
            holds = f" with {first.contains}" if first.contains else ""
            found.append((first.priority, record.name, first.glob.replace("*", "x") + holds))
    return [(example, name) for _, name, example in sorted(found)]


def _first_hit(record: PluginRecord, project: Path) -> DetectedGoal | None:
    for marker in sorted(record.markers, key=lambda marker: marker.priority):
        for path in _matching(project, marker.glob):
            if not marker.contains:
                return DetectedGoal(record, marker, path.relative_to(project).as_posix())
            if _contains(path, marker.contains):
                evidence = f"{path.relative_to(project).as_posix()}: {marker.contains}"
                return DetectedGoal(record, marker, evidence)
    return None


def _matching(project: Path, glob: str) -> Iterator[Path]:
    try:
        found = sorted(project.glob(glob.rstrip("/")))
    except (OSError, ValueError):  # a folder we may not read shows no sign
        return
    for path in found:
        if not glob.endswith("/") or path.is_dir():
            yield path


def _contains(path: Path, text: str) -> bool:
    try:
        with path.open("rb") as file:
            return text.encode() in file.read(_MAX_BYTES)
    except OSError:
        return False
