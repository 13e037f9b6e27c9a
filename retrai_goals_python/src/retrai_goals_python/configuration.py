"""Configuration files of a project, as plain tables; empty ones where a file is missing or broken.

What is wrong with such a file, the tool that it configures says itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from retrai_goal_support import text_of


def pyproject(folder: Path) -> dict[str, Any]:
    """The tables of `pyproject.toml`."""
    try:
        return tomllib.loads(text_of(folder / "pyproject.toml"))
    except ValueError:
        return {}


def table(value: object) -> dict[str, Any]:
    """The value if it is a table, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def words(value: object) -> list[str]:
    """A list of words, also one that is written as a single text."""
    if isinstance(value, str):
        return value.split()
    return (
        [str(word) for word in cast("Iterable[object]", value)] if isinstance(value, list) else []
    )
