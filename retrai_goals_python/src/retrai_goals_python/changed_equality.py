"""Finds new equality rules of classes whose objects tests expect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from retrai_core import Suspicion

from .diff_audit import is_source
from .diff_lines import added_lines

_RULE = re.compile(r"\b__(?:eq|ne)__\b|\b(?:eq|compare)\s*=\s*False|\bmetaclass\s*=")


def changed_equality(
    diff: str, project: Path, cases: Mapping[str, Set[str]]
) -> Iterator[Suspicion]:
    """New rules by which the expected objects of cases equal what they should not.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        cases: those that passed also when the last field of an expected object was another, each
            with the classes of these objects.
    """
    for path, line, text in added_lines(diff) if cases else ():
        if not is_source(path) or not _RULE.search(text):
            continue
        ruled = _ruled_by(project / path, line)
        for case, names in cases.items():
            if names & ruled:
                what = f"changes an equality rule, and {case} passes whatever its object holds"
                yield Suspicion(path, line, what)
                break


def _ruled_by(path: Path, line: int) -> set[str]:
    """The class that a line is part of, and those of the same file that are made from it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            made_from = {ast.unparse(each) for each in (*node.bases, *map(_value, node.keywords))}
            if first <= line <= (node.end_lineno or line) or made_from & names:
                names.add(node.name)
    return names


def _value(keyword: ast.keyword) -> ast.expr:
    return keyword.value
