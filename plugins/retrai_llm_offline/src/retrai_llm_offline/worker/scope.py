"""Which names an edit may use at a place in a module."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, Optional, Union

from .source import SourceFile

Enclosing = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """Names within reach of one place, the nearest first."""

    def __init__(self, source: SourceFile, place: ast.AST) -> None:
        self.functions = list(_enclosing(source, place))
        names: Dict[str, None] = {}
        for node in _ancestors(source, place):
            if isinstance(node, _COMPREHENSIONS):
                for generator in node.generators:
                    names.update(dict.fromkeys(_stored(generator.target)))
        self.callables: Dict[str, int] = {}
        for function in self.functions:
            names.update(dict.fromkeys(_parameters(function)))
            names.update(dict.fromkeys(_locals(function)))
            if not isinstance(function, ast.Lambda):
                self._add_callables(function.body)
        for gone in self.callables:
            names.pop(gone, None)
        self._add_callables(source.tree.body)
        self.variables = list(names)
        self.module_names = [
            name
            for statement in source.tree.body
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            for name in _stored(statement)
            if name not in names and not name.startswith("__")
        ]

    def _add_callables(self, body: List[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.callables.setdefault(statement.name, len(statement.args.args))
            elif isinstance(statement, ast.ClassDef):
                self.callables.setdefault(statement.name, -1)

    @property
    def innermost(self) -> Optional[Enclosing]:
        """The function that a place belongs to directly, if any."""
        return self.functions[0] if self.functions else None


def _ancestors(source: SourceFile, node: ast.AST) -> Iterator[ast.AST]:
    current: Optional[ast.AST] = node
    while current is not None:
        yield current
        current = source.parents.get(current)


def _enclosing(source: SourceFile, node: ast.AST) -> Iterator[Enclosing]:
    for ancestor in _ancestors(source, node):
        if isinstance(ancestor, _FUNCTIONS):
            yield ancestor


def _parameters(function: Enclosing) -> List[str]:
    arguments = function.args
    found = list(getattr(arguments, "posonlyargs", [])) + arguments.args + arguments.kwonlyargs
    found += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return [argument.arg for argument in found]


def _locals(function: Enclosing) -> Iterator[str]:
    if isinstance(function, ast.Lambda):
        return
    for statement in function.body:
        yield from _stored(statement)


def _stored(node: ast.AST) -> Iterator[str]:
    if isinstance(node, _FUNCTIONS + (ast.ClassDef,) + _COMPREHENSIONS):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for child in ast.iter_child_nodes(node):
        yield from _stored(child)


def attributes_of(source: SourceFile, owner: Optional[str] = None) -> List[str]:
    """Attribute names that the module reads or sets on a variable (`self`, say), as they appear.

    On any variable where none is named.
    """
    found: Dict[str, None] = {}
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and owner in (None, node.value.id)
        ):
            found[node.attr] = None
    return list(found)
