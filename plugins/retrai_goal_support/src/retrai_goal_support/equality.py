"""Classes of Python source whose equality is their own although they are numbers or times."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from retrai_core import Suspicion

from .audits import changed_files, changed_lines

_NUMBERS = {"int", "float", "complex", "Decimal", "Fraction"}
_TIMES = {"date", "datetime", "time", "timedelta"}
_CLASSES = {"type", "ABCMeta", "EnumMeta", "EnumType"}
_COMPARED_EXACTLY = _NUMBERS | _TIMES | _CLASSES
_EQUALITY = {"__eq__", "__ne__"}


def own_equality(
    diff: str, *, is_source: Callable[[str], bool], project: Path | None = None
) -> list[Suspicion]:
    """Classes of numbers, times or classes that a diff gives an equality of its own.

    One that asks its base as well only narrows, and what was so before, in whichever of the changed
    files, is not told.

    Args:
        diff: the whole diff of the run.
        is_source: whether a relative path is source that the check runs.
        project: where the changed files stand; without it nothing is found.

    Example:
        >>> import tempfile
        >>> text = "class Cents(int):\\n    __eq__ = near\\n"
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,0 +2 @@\\n+    __eq__ = near\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "x.py").write_text(text)
        ...     found = own_equality(diff, is_source=lambda path: True, project=Path(folder))
        >>> [(each.line, each.what) for each in found]
        [(2, 'redefines the equality of a number, a time or a class: class Cents')]
    """
    added = {(path, number) for sign, path, number, _ in changed_lines(diff) if sign == "+"}
    files = [each for each in changed_files(diff, project) if each[0].endswith(".py")]
    known = {name for _, before, _ in files for name, _ in _equalities(before)}
    return [
        Suspicion(
            path,
            line,
            f"redefines the equality of a number, a time or a class: class {name}",
            is_source(path),
        )
        for path, _, now in files
        for name, line in _equalities(now)
        if name not in known and (path, line) in added
    ]


def _equalities(text: str) -> Iterator[tuple[str, int]]:
    """Each class that compares exactly but for an equality of its own, and where that stands."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.ClassDef)]
        by_name = {node.name: node for node in nodes}
        for node in nodes:
            names, classes = _bases(node, by_name)
            if not _COMPARED_EXACTLY.isdisjoint(names):
                yield from ((node.name, line) for line in map(_own_line, classes) if line)


def _bases(
    node: ast.ClassDef, by_name: Mapping[str, ast.ClassDef]
) -> tuple[set[str], list[ast.ClassDef]]:
    """The names of all bases, and the class with those that stand in the same file."""
    names: set[str] = set()
    classes = [node]
    for each in classes:
        for name in (ast.unparse(base).rpartition(".")[2] for base in each.bases):
            if name not in names:
                names.add(name)
                classes += [by_name[name]] if name in by_name else []
    return names, classes


def _own_line(node: ast.ClassDef) -> int:
    """Where a class defines its equality without asking another; 0 where it does not."""
    for each in ast.walk(node):
        match each:
            case ast.FunctionDef(name=name) if name in _EQUALITY and not _asks_another(each):
                return each.lineno
            case ast.Name(id=name, ctx=ast.Store()) if name in _EQUALITY:
                return each.lineno
            case _:
                pass
    return 0


def _asks_another(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in _EQUALITY
        for each in ast.walk(node)
    )
