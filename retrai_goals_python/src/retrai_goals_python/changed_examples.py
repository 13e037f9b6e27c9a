"""Examples (`>>> f(1)`) that are tests, and that a run has changed in files it may change."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import changed_files

from .python_source import Definition, parse


def changed_examples(diff: str, project: Path, holding: Collection[str]) -> Iterator[Suspicion]:
    """One finding for each file in which an example is gone, or expects something else.

    What an example says is what its case checks: to change it is to change a test. New examples,
    and those that only move within their file, are nothing.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        holding: files, relative, whose text the runner takes examples from.
    """
    for path, before, now in changed_files(diff, project):
        if path not in holding:
            continue
        gone = Counter(_examples(path, before)) - Counter(_examples(path, now))
        if gone:
            source = next(iter(gone))[0].strip().partition("\n")[0]
            what = f"changes an example that is a test: {source[:100]}"
            yield Suspicion(path, 1, what, reaches_runner=True)


def _examples(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The source and the expected output of every example."""
    parser = doctest.DocTestParser()
    for part in _docstrings(text) if path.endswith(".py") else [text]:
        try:
            examples = parser.get_examples(part)
        except ValueError:
            continue  # no case was ever made of it
        yield from ((example.source, example.want) for example in examples)


def _docstrings(text: str) -> list[str]:
    nodes = [n for n in ast.walk(parse(text)) if isinstance(n, Definition | ast.Module)]
    return [found for node in nodes if (found := ast.get_docstring(node))]
