"""For goals that run in one folder of the project: the option that names it, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, field_validator

from .goal import GoalOptions
from .project_file import inside_project


class FolderOptions(GoalOptions):
    """Options of a goal whose check runs in a folder of the project.

    Example:
        >>> class ShopOptions(FolderOptions):
        ...     timeout_s: float = 60.0
        >>> ShopOptions(path="crates/shop/").path
        'crates/shop'
    """

    path: str = Field(default=".", json_schema_extra={"loosens": True})
    """The folder to run in, relative to the project (for a monorepo)."""

    @field_validator("path")
    @classmethod
    def _stay_inside(cls, value: str) -> str:
        return inside_project(value, "folder") or "."


def missing_folder(project: Path, path: str) -> str | None:
    """Why the option `path` cannot be used, for `GoalBase.ready`; None where it can."""
    if (project / path).is_dir():
        return None
    return f"the option path={path} names no folder of {project}"


def globs_below(path: str, globs: Sequence[str]) -> list[str]:
    """Globs that begin with `/`, as they read from the project when the check runs in `path`.

    Example:
        >>> globs_below("crates/shop", ["/tests/", "*.snap"])
        ['/crates/shop/tests/', '*.snap']
    """
    if path == ".":
        return list(globs)
    return [f"/{path}{glob}" if glob.startswith("/") else glob for glob in globs]
