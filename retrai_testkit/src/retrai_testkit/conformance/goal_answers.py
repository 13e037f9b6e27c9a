"""What the contract of goals asks of a goal's answers, one question a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from retrai_core import GoalResult
from retrai_core.verification.globs import Globs

from ..overriding import NotApplicable
from .clear_errors import require_clear_line
from .plugin import required


def cases_of(result: GoalResult) -> list[tuple[str, str]]:
    """Each case with its outcome, in the order of the report."""
    return list(result.report.cases.items()) if result.report is not None else []


def require_incomplete(result: GoalResult) -> None:
    """The answer of a check that could not be made to its end."""
    assert not result.achieved
    require_clear_line(result.reason)
    assert result.report is None or not result.report.complete, "it calls the report complete"


def skip_where(left_out: NotApplicable | None) -> None:
    """Skip the test where its project was left out, with the reason."""
    if left_out is not None:
        required(left_out, "")


def require_globs(globs: Any, where: str, project: Path) -> None:
    """Globs that the guard can use."""
    assert isinstance(globs, (list, tuple)), f"{where} gives {type(globs).__name__}, no sequence"
    for glob in cast("Sequence[Any]", globs):
        assert isinstance(glob, str), f"{where}: {glob!r}"
        assert glob.strip() == glob != "", f"{where}: {glob!r}"
        assert ".." not in glob.split("/"), f"{where}: {glob!r} leads out of the project"
        assert not glob.startswith(str(project)), f"{where}: {glob!r} is not relative"
    Globs(cast("Sequence[str]", globs))


def has_sign(project: Path, marker: Any) -> bool:
    """Whether the project shows what the marker looks for."""
    hits = list(project.glob(marker.glob.rstrip("/")))
    if not marker.contains:
        return bool(hits)
    return any(
        hit.is_file() and marker.contains in hit.read_text("utf-8", "replace") for hit in hits
    )
