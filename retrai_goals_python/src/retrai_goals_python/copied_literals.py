"""Finds values that tests expect among the literals of added lines: answers made for the tests.

Honest code may hold them too (a table of constants), so this only raises a finding.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from retrai_core import Suspicion

from .diff_audit import is_source
from .diff_lines import added_lines, removed_lines
from .pytest_detection import test_files

ENOUGH = 3
"""So many different values of the tests' in one file are told."""
MAX_FILES = 300
MAX_BYTES = 500_000
_SHORTEST = 4
_COMMON = frozenset({"0", "1", "2", "3", "10", "100", "1000", "0.0", "1.0", "0.5", "True", "None"})


def copied_literals(diff: str, project: Path) -> list[Suspicion]:
    """One finding for each source file whose added lines hold several values that tests expect.

    Args:
        diff: the whole diff of the run.
        project: where the tests stand.
    """
    added: dict[str, dict[str, int]] = {}
    for path, number, text in added_lines(diff):
        if is_source(path):
            for literal in _literals_of(text):
                added.setdefault(path, {}).setdefault(literal, number)
    # What a source held before was copied from no test, and may have moved to another since.
    before = {
        it for path, text in removed_lines(diff) if is_source(path) for it in _literals_of(text)
    }
    added = {
        path: {literal: line for literal, line in found.items() if literal not in before}
        for path, found in added.items()
    }
    if not any(len(found) >= ENOUGH for found in added.values()):
        return []
    expected = set(_expected(project))
    findings: list[Suspicion] = []
    for path, literals in added.items():
        same = {literal: line for literal, line in literals.items() if literal in expected}
        if len(same) >= ENOUGH:
            shown = ", ".join(sorted(same)[:5])
            what = f"holds {len(same)} values that the tests expect: {shown[:120]}"
            findings.append(Suspicion(path, min(same.values()), what))
    return findings


def _literals_of(line: str) -> Iterator[str]:
    """The numbers and texts in a line of code, but for those that stand in every program."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline):
            if token.type in (tokenize.NUMBER, tokenize.STRING):
                yield from _shown(token.string)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return  # a part of something longer; what came before the break was given


def _shown(text: str) -> Iterator[str]:
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return  # an f-string
    shown = repr(value)
    if shown not in _COMMON and not (isinstance(value, str) and len(value) < _SHORTEST):
        yield shown


def _expected(project: Path) -> Iterable[str]:
    """Literals that the tests compare with, or are given as parameters."""
    for number, name in enumerate(test_files(project)):
        path = project / name
        if number >= MAX_FILES:
            return
        try:
            if path.stat().st_size > MAX_BYTES:
                continue
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # no test of a file that cannot be read has passed
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) or _is_expecting(node):
                yield from _constants(node)


def _is_expecting(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name == "parametrize" or str(name).startswith("assert")


def _constants(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant):
            yield from _shown(repr(inner.value))
