"""Options that goals have in common: a folder, files of the project, words of a command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from retrai_core import GoalOptions


def _words(value: object) -> object:
    return shlex.split(value) if isinstance(value, str) else value


ShellWords = Annotated[list[str], BeforeValidator(_words)]
"""The type of an option that is a list of words: a string is split as a shell would split it.

Example:
    >>> class LintOptions(GoalOptions):
    ...     args: ShellWords = []
    >>> LintOptions(args="--rule 'line length'").args
    ['--rule', 'line length']
    >>> LintOptions(args=["--rule", "line length"]).args
    ['--rule', 'line length']
"""


def _inside_project(value: str, what: Literal["file", "folder"] = "file") -> str:
    """The relative path, normalised; an empty one stays empty.

    Raises:
        ValueError: it leaves the project.
    """
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"must be a {what} inside the project")
    return str(path) if value else value


ProjectFile = Annotated[str, AfterValidator(_inside_project)]
"""The type of an option that is a file of the project, relative to it; empty for none.

Example:
    >>> class LintOptions(GoalOptions):
    ...     rules: ProjectFile = ""
    >>> LintOptions(rules="./lint/rules.txt").rules
    'lint/rules.txt'
"""


class FolderOptions(GoalOptions):
    """Options of a goal whose check runs in a folder of the project.

    Example:
        >>> class ShopOptions(FolderOptions):
        ...     timeout_s: float = 60.0
        >>> ShopOptions(path="crates/shop/").path
        'crates/shop'
    """

    path: str = Field(default=".", json_schema_extra={"loosens": True})
    """Folder to run in, relative to the project (for a monorepo)."""

    @field_validator("path")
    @classmethod
    def _stay_inside(cls, value: str) -> str:
        return _inside_project(value, "folder") or "."


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
