"""The functions of Python source, by their qualified names."""

from __future__ import annotations

import ast
from contextlib import suppress

PythonFunction = ast.FunctionDef | ast.AsyncFunctionDef


def python_functions(text: str) -> dict[str, PythonFunction]:
    """The functions of a module, by names like `Loan.due`; none where it is no Python.

    Example:
        >>> list(python_functions("class Loan:\\n    def due(self): ..."))
        ['Loan.due']
    """
    found: dict[str, PythonFunction] = {}

    def search(node: ast.AST, prefix: str) -> None:
        for each in ast.iter_child_nodes(node):
            is_definition = isinstance(each, PythonFunction | ast.ClassDef)
            name = f"{prefix}{each.name}." if is_definition else prefix
            if isinstance(each, PythonFunction):
                found[name[:-1]] = each
            search(each, name)

    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        search(ast.parse(text), "")
    return found
