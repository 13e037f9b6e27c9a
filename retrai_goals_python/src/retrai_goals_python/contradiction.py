"""Changes what tests expect: a project that gives real answers must fail them then.

Only exact expectations that are surely reached are changed: `assert ... == LITERAL` at the top
level of a test function's body, before any return, with no approximation in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "retrai contradiction"
_LEAVES_EARLY = frozenset({"skip", "xfail", "importorskip", "exit", "fail"})
_INSENSITIVE = ("approx", "any", "isclose", "allclose")

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what stands between two byte offsets of a file."""

    start: int
    end: int
    text: bytes


def contradict_tests(root: Path, functions: Iterable[str], limit: int) -> list[str]:
    """Change one expectation in each of the test functions; those in which one was found.

    Args:
        root: the folder that the ids are relative to; its files are changed.
        functions: ids without parameters (`tests/test_a.py::TestB::test_c`), the first ones first.
        limit: how many to change at most.
    """
    by_file: dict[str, list[str]] = {}
    for function in functions:
        by_file.setdefault(function.split("::", 1)[0], []).append(function)
    changed: list[str] = []
    for name, ids in by_file.items():
        if len(changed) >= limit or not name.endswith(".py"):
            continue
        found = dict(_edits(root / name, ids))
        chosen = dict(list(found.items())[: limit - len(changed)])
        if chosen:
            _apply(root / name, chosen.values())
            changed += chosen
    return changed


def contradiction_of(value: object) -> object | None:
    """A value that nothing honest equals when it equals `value`; None where there is none.

    Example:
        >>> contradiction_of(3), contradiction_of("a"), contradiction_of([1])
        (23, 'a retrai contradiction', [1, 'retrai contradiction'])
    """
    other = _OTHER.get(type(value))
    return None if other is None else other(value)


_OTHER: dict[type, Callable[[Any], object]] = {
    bool: lambda value: not value,
    # Without `abs`, -17 would stay what it is.
    int: lambda value: abs(value) * 2 + 17,
    # Beyond 1e15 the difference could be rounded away.
    float: lambda value: abs(value) * 2 + 17.5 if abs(value) < 1e15 else None,
    str: lambda value: f"{value} {MARK}",
    bytes: lambda value: value + MARK.encode(),
    type(None): lambda value: MARK,
    list: lambda value: [*value, MARK],
    tuple: lambda value: (*value, MARK),
    set: lambda value: {*value, MARK},
    dict: lambda value: {**value, MARK: MARK},
}


def _edits(path: Path, ids: list[str]) -> Iterator[tuple[str, Edit]]:
    try:
        source = path.read_bytes()
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return  # a test file that cannot be read had no passing test in it
    if source.startswith(b"\xef\xbb\xbf"):
        return  # byte offsets would be off by the mark
    starts = _line_starts(source)
    for function in ids:
        node = _find(tree, function.split("::")[1:])
        literal = _expectation(node) if node is not None else None
        if literal is None:
            continue
        other = contradiction_of(ast.literal_eval(literal))
        if other is None or literal.end_lineno is None or literal.end_col_offset is None:
            continue
        start = starts[literal.lineno - 1] + literal.col_offset
        end = starts[literal.end_lineno - 1] + literal.end_col_offset
        yield function, Edit(start, end, f"({other!r})".encode())


def _apply(path: Path, edits: Iterable[Edit]) -> None:
    source = path.read_bytes()
    for edit in sorted(edits, key=lambda edit: -edit.start):
        source = source[: edit.start] + edit.text + source[edit.end :]
    path.write_bytes(source)


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _find(tree: ast.Module, names: list[str]) -> _Function | None:
    """The function that a test id means: the last of its name, as Python takes it."""
    body: list[ast.stmt] = tree.body
    found: ast.ClassDef | _Function | None = None
    for name in names:
        found = None
        for node in body:
            if isinstance(node, _NAMED) and node.name == name:
                found = node
        if found is None:
            return None
        body = found.body
    return found if isinstance(found, _Function) else None


def _expectation(function: _Function) -> ast.expr | None:
    """The literal in the first exact assertion that is reached whenever the test passes."""
    for statement in function.body:
        if _may_leave(statement):
            return None
        if isinstance(statement, ast.Assert):
            literal = _compared_literal(statement.test)
            if literal is not None:
                return literal
    return None


def _may_leave(statement: ast.stmt) -> bool:
    """Whether the test may end well here, before what comes after it."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in _LEAVES_EARLY:
                return True
    return False


def _compared_literal(test: ast.expr) -> ast.expr | None:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], ast.Eq):
        return None
    sides = (test.left, test.comparators[0])
    literals = [side for side in sides if _is_literal(side)]
    if len(literals) != 1 or any(_is_insensitive(side) for side in sides):
        return None
    return literals[0]


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_insensitive(side: ast.expr) -> bool:
    """An expression that may equal more than one value: an approximation, a matcher."""
    names: list[Any] = [getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(side)]
    return any(word in str(name).lower() for name in names for word in _INSENSITIVE)
