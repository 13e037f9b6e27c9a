"""Definitions that a run moved out of a type checker's sight: into an excluded file, or a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from retrai_core import Suspicion

from .diff_lines import added_lines, removed_lines, text_before

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
    changed = dict.fromkeys(path for path, _, _ in added_lines(diff))
    changed |= dict.fromkeys(path for path, _ in removed_lines(diff))
    texts = {path: _text(project / path) for path in changed}
    before = (text_before(diff, path, text.split("\n")) for path, text in texts.items())
    gone = {name for text in before for name in _defined(text)}
    if gone:
        gone -= {name for path in checked for name in _defined(_text(project / path))}
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n") if gone else (), start=1):
            found = _DEFINES.match(line)
            if found and found[1] in gone:
                what = f"moves code to where no type checker looks: {line.strip()[:100]}"
                yield Suspicion(path, number, what, reaches_runner=True)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""  # it is gone


def _defined(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS))
