"""Definitions that a run moved out of a type checker's sight: into an excluded file, or a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import changed_files, text_of

from .python_source import parse

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
    files = list(changed_files(diff, project))
    gone = {name for _, before, _ in files for name in _defined(before)}
    if gone:
        gone -= {name for path in checked for name in _defined(text_of(project / path))}
    for path, _, now in files:
        for number, line in enumerate(now.split("\n") if gone else (), start=1):
            found = _DEFINES.match(line)
            if found and found[1] in gone:
                what = f"moves code to where no type checker looks: {line.strip()[:100]}"
                yield Suspicion(path, number, what, reaches_runner=True)


def _defined(text: str) -> Iterator[str]:
    nodes = ast.walk(parse(text))
    yield from (node.name for node in nodes if isinstance(node, _DEFINITIONS))
