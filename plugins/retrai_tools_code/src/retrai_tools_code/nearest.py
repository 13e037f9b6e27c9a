"""What a model may have meant by a path that does not exist."""

from __future__ import annotations

import difflib
import posixpath

from retrai_core import ToolError, Workspace

from .cutting import printable

MAX_PATHS = 20_000


def missing_file(workspace: Workspace, path: str) -> ToolError:
    """The error for a path where nothing is; it names the nearest files."""
    names = near_paths(workspace, path)
    hint = f"did you mean {' or '.join(repr(printable(name)) for name in names)}?" if names else ""
    return ToolError(f"{path!r} does not exist", hint=hint or "file_list shows what does")


def near_paths(workspace: Workspace, path: str, count: int = 3) -> list[str]:
    """Files of the same name elsewhere, else of the most similar path."""
    paths: list[str] = []
    for entry in workspace.walk("."):
        paths.append(entry.path)
        if len(paths) >= MAX_PATHS:
            break
    name = posixpath.basename(path)
    same = [found for found in paths if posixpath.basename(found) == name]
    return same[:count] or difflib.get_close_matches(path, paths, n=count, cutoff=0.75)
