"""What a model is shown of a project: its tree, its key files, and the sources that matter."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrai_core import Workspace, WorkspaceError

_KEY_FILES = (
    "README.md",
    "README.rst",
    "AGENTS.md",
    "CLAUDE.md",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
)
_SOURCES = (".py", ".pyi", ".toml", ".cfg", ".md", ".rst", ".json", ".yml", ".yaml", ".txt")
_MAX_FILES = 5000
_MAX_FILE_BYTES = 200_000
_TREE_LINES = 300
_WORD = re.compile(r"[a-z][a-z0-9]{2,}")


def project_digest(workspace: Workspace, description: str, max_chars: int) -> str:
    """The project in at most `max_chars` characters, the most relevant first.

    Args:
        workspace: the project's files.
        description: what is wanted; files that share its words come first.
        max_chars: characters of all of it.
    """
    paths = [e.path for _, e in zip(range(_MAX_FILES), workspace.walk(), strict=False)]
    tree = "\n".join(paths[:_TREE_LINES])
    if len(paths) > _TREE_LINES:
        tree += f"\n... and {len(paths) - _TREE_LINES} more files"
    parts = [f"The project's files:\n{tree}"[: max_chars // 3]]
    left = max_chars - len(parts[0])
    for path, text in _ranked(workspace, paths, description):
        part = f"\n\n=== {path}\n{text}"
        if len(part) > left:
            if left < 2000:
                break
            part = f"{part[: left - 100]}\n[... cut: {len(text)} characters in all]"
        parts.append(part)
        left -= len(part)
    return "".join(parts)


def _ranked(
    workspace: Workspace, paths: Iterable[str], description: str
) -> Iterable[tuple[str, str]]:
    """Key files, then sources by how many of the description's words they hold."""
    wanted = set(_WORD.findall(description.lower()))
    found: list[tuple[float, str, str]] = []
    for path in paths:
        if path not in _KEY_FILES and not path.endswith(_SOURCES):
            continue
        try:
            text = workspace.read_bytes(path, _MAX_FILE_BYTES).decode("utf-8")
        except (WorkspaceError, UnicodeDecodeError):
            continue
        found.append((-_weight(path, text, wanted), path, text))
    return [(path, text) for _, path, text in sorted(found)]


def _weight(path: str, text: str, wanted: set[str]) -> float:
    if path in _KEY_FILES:
        return 1000 - _KEY_FILES.index(path)
    words = set(_WORD.findall(text.lower()))
    named = set(_WORD.findall(path.lower()))
    is_source = path.endswith((".py", ".pyi"))
    return len(wanted & words) + 3 * len(wanted & named) + 2 * is_source
