"""Definitions that a run moved out of a type checker's sight: into an excluded file, or a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from retrai_core import Suspicion

from .diff_lines import added_lines, removed_lines

_DEFINES = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def moved_out_of_sight(diff: str, project: Path, checked: Collection[str]) -> Iterator[Suspicion]:
    """Functions and classes that were taken from the checked files and stand elsewhere now.

    What is deleted for good, renamed, or moved between checked files is nothing.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        checked: files, relative, that the type checker looks at.
    """
    removed = {found[1] for _, text in removed_lines(diff) if (found := _DEFINES.match(text))}
    if not removed:
        return
    gone = removed - {name for path in checked for name in _defined(project / path)}
    for path, number, text in added_lines(diff):
        found = _DEFINES.match(text)
        if found and found[1] in gone:
            what = f"moves code to where no type checker looks: {text.strip()[:100]}"
            yield Suspicion(path, number, what, reaches_runner=True)


def _defined(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    yield from (node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS))
