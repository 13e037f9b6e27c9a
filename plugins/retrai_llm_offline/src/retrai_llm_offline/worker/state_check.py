"""Whether calling a module's functions leaves something behind for the next call."""

from __future__ import annotations

import ast
from typing import Iterator

_LITERALS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft remove "
    "reverse rotate setdefault sort subtract update".split()
)


def keeps_state(tree: ast.Module) -> bool:
    """Whether functions change what the module, a class or a default argument holds.

    Candidates on such a module each get a process of their own; on others a few share one.
    """
    held = set(_held(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _CHANGING and _name(node.func.value) in held:
                return True
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if _name(node.value) in held:
                return True
    return False


def _held(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for statement in node.body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and _mutable(statement.value):
                    targets = (
                        statement.targets
                        if isinstance(statement, ast.Assign)
                        else [statement.target]
                    )
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if _makes_function(node):
                yield from _assigned_containers(node)
            arguments = node.args
            with_default = arguments.args[len(arguments.args) - len(arguments.defaults) :]
            for argument, default in zip(with_default, arguments.defaults):
                if _mutable(default):
                    yield argument.arg


def _makes_function(node: ast.AST) -> bool:
    """Whether a function returns one that it defines, as decorators do: its variables live on."""
    inner = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node}
    returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return any(isinstance(value, ast.Name) and value.id in inner for value in returned)


def _assigned_containers(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and _mutable(inner.value):
            yield from (target.id for target in inner.targets if isinstance(target, ast.Name))


def _mutable(value: object) -> bool:
    return isinstance(value, _LITERALS + (ast.Call,))


def _name(node: ast.expr) -> str:
    """The last name of what is changed: `cache` in `cache[key]`, `self.cache` and `Class.cache`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
