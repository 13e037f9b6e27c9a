"""The values that recorded answers hold, and those of their parts.

An answer is a text as Python writes values; an object of the project's own class stands in it as
`CLASS(VALUE)`, `CLASS[ITEMS]` or `CLASS(ATTRIBUTE=VALUE, ...)`.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

Place = tuple[str, object]
"""A call, and where in its answer: an index, a key, the name of an attribute; or the whole."""
_WHOLE, _NOT_PLAIN = object(), object()
_LOCALS = re.compile(r"[\w.]+\.<locals>\.")


@dataclass(frozen=True)
class Value:
    """What an answer or a part of it holds, and the names of the classes that hold it there."""

    value: object
    classes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return " ".join([*sorted(self.classes), repr(self.value)])


def values_in(asked: Iterable[tuple[str, str]]) -> dict[Place, list[Value]]:
    """The plain values among the answers to some calls, and among their parts.

    Example:
        >>> [str(each) for (each,) in values_in([("f()", "[Cents(3), 4]")]).values()]
        ['Cents [3, 4]', 'Cents 3', '4']
    """
    found: defaultdict[Place, list[Value]] = defaultdict(list)
    for call, answer in sorted(asked):
        try:
            tree = ast.parse(_LOCALS.sub("", answer), mode="eval").body
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        for place, node in [(_WHOLE, tree), *_parts(tree)]:
            without = _WithoutClasses()
            value = plain(without.visit(copy.deepcopy(node)))
            if value is not _NOT_PLAIN:
                found[call, place].append(Value(value, frozenset(without.classes)))
    return found


def _parts(node: ast.expr) -> Iterator[tuple[object, ast.expr]]:
    """The elements of a collection by their place, and the attributes of an object by name."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            yield from enumerate(elements)
        case ast.Dict(keys=keys, values=values):
            yield from ((plain(key), each) for key, each in zip(keys, values, strict=True) if key)
        case ast.Call(args=[], keywords=attributes):
            yield from ((each.arg, each.value) for each in attributes)
        case _:
            pass


class _WithoutClasses(ast.NodeTransformer):
    """Takes the names of classes off the values that they hold: `[Cent(3)]` becomes `[3]`."""

    def __init__(self) -> None:
        self.classes: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, (ast.Name, ast.Attribute)) and len(node.args) == 1:
            self.classes.add(ast.unparse(node.func).rpartition(".")[2])
            return self.visit(node.args[0])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            self.classes.add(ast.unparse(node.value).rpartition(".")[2])
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return self.visit(ast.List(items, ast.Load()))
        return node


def plain(value: str | ast.AST) -> object:
    """The value of a literal; an object that equals none where it is no literal."""
    try:
        return ast.literal_eval(cast("str | ast.expr", value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return _NOT_PLAIN
