"""The files that pyright checks in a project: each is a case, also when nothing is wrong in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .configuration import pyproject, table, words

DEFAULT_EXCLUDES = ("**/node_modules", "**/__pycache__", "**/.*")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")


def read_configuration(folder: Path) -> dict[str, Any]:
    """pyright's settings of a project; empty when there are none or they cannot be read.

    `pyrightconfig.json` beats `pyproject.toml`, as pyright has it; it may hold comments.
    """
    try:
        text = (folder / "pyrightconfig.json").read_text("utf-8")
        plain = _COMMENT.sub(lambda found: found.group(1) or "", text)
        return table(json.loads(_TRAILING_COMMA.sub(r"\1", plain)))
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        # pyright says itself what is wrong with its configuration.
        return {}
    return table(table(pyproject(folder).get("tool")).get("pyright"))


def checked_files(folder: Path, targets: Sequence[str] = ()) -> list[str]:
    """Relative paths of the Python files in pyright's scope, sorted.

    Args:
        folder: where pyright runs.
        targets: files and folders given on its command line; they replace `include`.
    """
    settings = read_configuration(folder)
    include = list(targets) or words(settings.get("include")) or ["."]
    exclude = words(settings.get("exclude")) if "exclude" in settings else DEFAULT_EXCLUDES
    roots = [_pattern(each) for each in include]
    left_out = [_pattern(each) for each in exclude]
    return sorted(
        path for path in _python_files(folder, left_out) if any(root.match(path) for root in roots)
    )


def _python_files(folder: Path, left_out: list[re.Pattern[str]]) -> Iterator[str]:
    for base, folders, files in os.walk(folder):
        relative = os.path.relpath(base, folder).replace(os.sep, "/")
        prefix = "" if relative == "." else f"{relative}/"
        folders[:] = [
            name
            for name in folders
            if not any(each.match(prefix + name) for each in left_out)
            # pyright leaves out virtual environments wherever they lie.
            and not os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
        ]
        for name in files:
            if name.endswith((".py", ".pyi")):
                path = prefix + name
                if not any(each.match(path) for each in left_out):
                    yield path


def _pattern(spec: str) -> re.Pattern[str]:
    """pyright's path wildcards: `**` any folders, `*` and `?` within a name; a folder means all."""
    parts = [part for part in spec.replace("\\", "/").split("/") if part not in ("", ".")]
    pieces: list[str] = []
    for part in parts:
        if part == "**":
            pieces.append(r"(?:[^/]+/)*")
        else:
            name = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
            pieces.append(f"{name}/")
    text = "".join(pieces).removesuffix("/")
    return re.compile(f"{text}(?:/.*)?$" if text else r".*$")
