"""The files that pyright checks in a project: each is a case, also when nothing is wrong in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from retrai_goal_support import text_of

from ..configuration import pyproject, table, words

DEFAULT_EXCLUDES = ("**/node_modules", "**/__pycache__", "**/.*")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")


def read_configuration(folder: Path) -> dict[str, Any]:
    """pyright's settings of a project; empty when there are none or they cannot be read.

    `pyrightconfig.json` beats `pyproject.toml`, as pyright has it; it may hold comments.
    """
    file = folder / "pyrightconfig.json"
    if not file.exists():
        return table(table(pyproject(folder).get("tool")).get("pyright"))
    plain = _COMMENT.sub(lambda found: found.group(1) or "", text_of(file))
    try:
        return table(json.loads(_TRAILING_COMMA.sub(r"\1", plain)))
    except ValueError:
        return {}  # pyright says itself what is wrong with its configuration


def checked_files(folder: Path, targets: Sequence[str] = ()) -> list[str]:
    """Relative paths of the Python files in pyright's scope, sorted.

    Args:
        folder: where pyright runs.
        targets: files and folders given on its command line; they replace `include`.
    """
    settings = read_configuration(folder)
    include = list(targets) or words(settings.get("include")) or ["."]
    exclude = words(settings.get("exclude")) if "exclude" in settings else DEFAULT_EXCLUDES
    included, left_out = _matcher(include), _matcher(exclude)
    found: list[str] = []
    for base, folders, files in os.walk(folder):
        place = Path(base).relative_to(folder)
        folders[:] = [
            name
            for name in folders
            if not left_out.match_file(place / name)
            # pyright leaves out virtual environments wherever they lie.
            and not os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
        ]
        paths = [place / name for name in files if name.endswith((".py", ".pyi"))]
        found += [str(path) for path in paths if included.match_file(path)]
    return sorted(path for path in found if not left_out.match_file(path))


def _matcher(specs: Iterable[str]) -> GitIgnoreSpec:
    """pyright's path wildcards, which are those of gitignore; a folder means all that is in it."""
    paths = [os.path.normpath(spec.replace("\\", "/")) for spec in specs]
    return GitIgnoreSpec.from_lines("*" if path == "." else f"/{path}" for path in paths)
