"""The values that recorded answers hold, and those of their parts.

An answer is a text as Python writes values; an object of the project's own class stands in it as
`CLASS(VALUE)` or `CLASS(ATTRIBUTE=VALUE, ...)`.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

Position = tuple[object, ...]
"""Where in an answer: indexes, keys and names of attributes; empty for the whole."""
Place = tuple[str, Position]
"""A function, and where in its answers."""
_NOT_PLAIN = object()
_OPERATORS: Mapping[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, container: item in container,
}
_LOCALS = re.compile(r"[\w.]+\.<locals>\.")


@dataclass(frozen=True)
class Value:
    """What an answer or a part of it holds, and the names of the classes that hold it there.

    The call that it is from does not count where two are compared.
    """

    value: object
    classes: frozenset[str] = frozenset()
    call: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.call}: {' '.join([*sorted(self.classes), repr(self.value)])}"


def values_in(asked: Iterable[tuple[str, str]]) -> dict[Place, list[Value]]:
    """The plain values among the answers to some calls, and among their parts.

    Example:
        >>> [str(each) for (each,) in values_in([("f()", "[Cents(3), 4]")]).values()]
        ['f(): Cents [3, 4]', 'f(): Cents 3', 'f(): 4']
    """
    found: defaultdict[Place, list[Value]] = defaultdict(list)
    for call, answer in sorted(asked):
        # A text of somebody else's may be no value, or nested too deep.
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            for path, node in _parts(ast.parse(_LOCALS.sub("", answer), mode="eval").body):
                without = _WithoutClasses()
                value = plain(without.visit(copy.deepcopy(node)))
                if value is not _NOT_PLAIN:
                    known = Value(value, frozenset(without.classes), call)
                    found[function_of(call), path].append(known)
    return found


def _parts(node: ast.expr, path: Position = ()) -> Iterator[tuple[Position, ast.expr]]:
    """The value, the elements of a collection by their place, and an object's attributes by name;
    and theirs."""
    yield path, node
    while isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    inner: Iterable[tuple[object, ast.expr]] = ()
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            inner = enumerate(elements)
        case ast.Dict(keys=keys, values=values):
            inner = zip(map(ast.unparse, filter(None, keys)), values, strict=True)
        case ast.Call(keywords=attributes):
            inner = ((each.arg, each.value) for each in attributes)
        case _:
            pass
    for at, each in inner:
        yield from _parts(each, (*path, at))


class _WithoutClasses(ast.NodeTransformer):
    """Takes the names of classes off the values that they hold: `[Cent(3)]` becomes `[3]`."""

    def __init__(self) -> None:
        self.classes: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, (ast.Name, ast.Attribute)) and len(node.args) == 1:
            self.classes.add(ast.unparse(node.func).rpartition(".")[2])
            return self.visit(node.args[0])
        return node


def function_of(call: str) -> str:
    """The name in a call as one would write it."""
    return call.partition("(")[0]


def plain(value: str | ast.AST) -> object:
    """The value of a literal; an object that equals none where it is no literal."""
    try:
        return ast.literal_eval(cast("str | ast.expr", value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return _NOT_PLAIN


def holds(left: object, comparison: str, right: object) -> bool:
    """Whether `==`, `<` or `in`, say, holds; also where it cannot be asked of these, or is another.

    Example:
        >>> holds(2, "<", 3), holds("a", "in", "b"), holds(2, "<", "b"), holds(1, "is", 2)
        (True, False, True, True)
    """
    try:
        return bool(_OPERATORS[comparison](left, right))
    except (KeyError, TypeError):
        return True
