"""Options that name a file of the project.

Example:
    >>> from retrai_core import GoalOptions
    >>> class LintOptions(GoalOptions):
    ...     rules: ProjectFile = ""
    >>> LintOptions(rules="./lint/rules.txt").rules
    'lint/rules.txt'
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator


def inside_project(value: str, what: Literal["file", "folder"] = "file") -> str:
    """The relative path, normalised; an empty one stays empty.

    Raises:
        ValueError: it leaves the project.
    """
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"must be a {what} inside the project")
    return str(path) if value else value


ProjectFile = Annotated[str, AfterValidator(inside_project)]
"""The type of an option that is a file of the project, relative to it; empty for none."""
