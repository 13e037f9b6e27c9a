"""Overloads that promise what their function does not return.

pyright believes an overload where the function's own type allows what it promises among others. So
for each overload that the run wrote, the function is checked once as if it had that signature
alone. It is false where no `return` keeps the promise: each is of one wrong type, or may be None.
Of another union, and of one `return` among several, pyright may not know whether it is meant there.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from .python_source import last_name, parse

RULE = "reportReturnType"
_RETURNED = re.compile(r'^Type "(?P<returned>[^"]*)" is not assignable to return type')
_NONE = '"None" is not assignable to'
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Overload:
    """An overload of a function.

    Attributes:
        signature: as it stands there; tells a new one from one that was there before.
        text: the file in which the function has that signature alone.
        returns: the lines of its `return`s in it, from 1 on.
    """

    signature: str
    text: str
    returns: frozenset[int]


def overloads_in(source: str) -> Iterator[Overload]:
    """The overloads of a file, but for those with a default that is no literal.

    Example:
        >>> source = '''
        ... @overload
        ... def f(a: int) -> str: ...
        ... def f(a: int, b: None = None) -> str | None:
        ...     return b
        ... '''
        >>> (found,) = overloads_in(source)
        >>> print(found.text)
        def f(a: int) -> str:
            b = None
            return b
    """
    tree = parse(source)
    for owner in ast.walk(tree):
        body = getattr(owner, "body", None)
        if not isinstance(owner, (ast.Module, ast.ClassDef)) or not isinstance(body, list):
            continue
        functions = [each for each in owner.body if isinstance(each, _Function)]
        for function in functions:
            same = [each for each in functions if each.name == function.name]
            if function is same[-1] and not _is_overload(function):
                for each in filter(_is_overload, same):
                    if found := _alone(tree, function, each):
                        yield found


def is_false(message: str) -> bool:
    """Whether a wrong return says that the promise is not kept.

    Example:
        >>> said = 'Type "float" is not assignable to return type "str"'
        >>> is_false(said), is_false(said.replace("float", "A | B"))
        (True, False)
    """
    found = _RETURNED.match(message)
    return found is not None and (" | " not in found["returned"] or _NONE in message)


def _is_overload(function: _Function) -> bool:
    return any(last_name(each) == "overload" for each in function.decorator_list)


def _alone(tree: ast.Module, function: _Function, overload: _Function) -> Overload | None:
    made, known = copy.deepcopy(overload), copy.deepcopy(function)
    promised = {each.arg for each in ast.walk(overload.args) if isinstance(each, ast.arg)}
    fixed: list[ast.stmt] = []
    for name, default in _defaults(known.args):
        if name not in promised:
            if not isinstance(default, ast.Constant):
                return None  # what it is compared with tells pyright nothing
            fixed.append(ast.Assign([ast.Name(name, ast.Store())], default))
    made.decorator_list = known.decorator_list
    # pyright does not see what `must and found is None` says of `found` where `must` is a name.
    known_names = _Known({each.arg: value for each, value in _truths(made.args)})
    made.body = [*fixed, *map(known_names.visit, known.body)]
    changed = _Replaced(overload.name, function.lineno, made).visit(copy.deepcopy(tree))
    text = ast.unparse(ast.fix_missing_locations(changed))
    written = ast.unparse(made)
    there = (each for each in ast.walk(parse(text)) if isinstance(each, _Function))
    returns = {
        node.lineno
        for each in there
        if each.name == made.name and ast.unparse(each) == written
        for node in ast.walk(each)
        if isinstance(node, ast.Return)
    }
    return Overload(ast.unparse(overload), text, frozenset(returns)) if returns else None


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    places = [*arguments.posonlyargs, *arguments.args]
    yield from zip(
        [each.arg for each in places[len(places) - len(arguments.defaults) :]],
        arguments.defaults,
        strict=True,
    )
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield each.arg, default


def _truths(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.Constant]]:
    """The arguments that are `Literal[True]` or `Literal[False]`."""
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        match each.annotation:
            case ast.Subscript(value=kind, slice=ast.Constant(value=bool()) as truth):
                if last_name(kind) == "Literal":
                    yield each, truth
            case _:
                pass


class _Known(ast.NodeTransformer):
    """Puts constants in the place of names, and returns each part of `a if b else c` by itself:
    pyright leaves out a statement that is not reached, and no part of an expression."""

    def __init__(self, constants: Mapping[str, ast.Constant]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_read = isinstance(node.ctx, ast.Load)
        return self._constants.get(node.id, node) if is_read else node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if not isinstance(node.value, ast.IfExp):
            return cast("ast.stmt", self.generic_visit(node))
        test, body, orelse = node.value.test, node.value.body, node.value.orelse
        parts = [self.visit(ast.Return(each)) for each in (body, orelse)]
        return ast.If(self.visit(test), parts[:1], parts[1:])


class _Replaced(ast.NodeTransformer):
    """Puts a function in the place of another one, whose overloads go."""

    def __init__(self, name: str, line: int, made: _Function) -> None:
        self._name, self._line, self._made = name, line, made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return self._replaced(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST | None:
        return self._replaced(node)

    def _replaced(self, node: _Function) -> ast.AST | None:
        if node.name != self._name:
            return self.generic_visit(node)
        if node.lineno == self._line:
            return self._made
        return None if _is_overload(node) else self.generic_visit(node)
