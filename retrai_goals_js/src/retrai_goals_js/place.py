"""Options that both goals here have, and the checks of what they name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from pydantic import Field, field_validator

from retrai_core import GoalOptions


class PlaceOptions(GoalOptions):
    """Where a check runs, and how long it may take."""

    path: str = "."
    """The folder to run in, relative to the project (for a monorepo)."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Wall-clock seconds for one run of the whole suite."""

    @field_validator("path")
    @classmethod
    def _stay_inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("must be a folder inside the project")
        return str(path)


def missing_folder(project: Path, path: str) -> str | None:
    """Why the option `path` cannot be used, or None."""
    if (project / path).is_dir():
        return None
    return f"the option path={path} names no folder of {project}"


def below(path: str, globs: list[str]) -> list[str]:
    """Globs that begin with `/`, as they read from the project when the check runs in `path`.

    Example:
        >>> below("packages/ui", ["/test/", "*.test.*"])
        ['/packages/ui/test/', '*.test.*']
    """
    if path == ".":
        return globs
    return [f"/{path}{glob}" if glob.startswith("/") else glob for glob in globs]
