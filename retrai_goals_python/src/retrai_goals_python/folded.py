"""What an expression of a Python file comes to, as far as its text alone says: `"mod" + "ules"`.

Names that are bound once to such an expression count; nothing of the file is run.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, cast

MAX_SIZE = 200_000
MAX_PRODUCT = 50_000_000
MAX_STEPS = 20_000
_METHODS = frozenset(
    {
        *("join", "decode", "encode", "replace", "lower", "upper", "strip", "lstrip", "rstrip"),
        *("title", "swapcase", "casefold", "capitalize", "hex", "translate"),
        *("split", "rsplit", "splitlines", "removeprefix", "removesuffix"),
    }
)


def _reversed(value: Any) -> list[Any]:
    return list(reversed(value))


def _map(function: Callable[[Any], Any], values: Any) -> list[Any]:
    return [function(value) for value in values]


def _bytes(value: Any) -> bytes:
    if isinstance(value, int):
        raise NotFoldedError
    return bytes(value)


def _decompressed(data: Any) -> bytes:
    return zlib.decompressobj().decompress(data, MAX_SIZE)


_FUNCTIONS: Mapping[str, Any] = {
    "chr": chr,
    "ord": ord,
    "str": str,
    "bytes": _bytes,
    "bytearray": _bytes,
    "list": list,
    "tuple": tuple,
    "reversed": _reversed,
    "int": int,
    "map": _map,
    "b64decode": base64.b64decode,
    "b32decode": base64.b32decode,
    "b16decode": base64.b16decode,
    "b85decode": base64.b85decode,
    "a85decode": base64.a85decode,
    "unhexlify": binascii.unhexlify,
    "fromhex": bytes.fromhex,
    "decompress": _decompressed,
    "maketrans": str.maketrans,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mod: operator.mod,
    ast.BitXor: cast("Callable[[Any, Any], Any]", getattr(operator, "xor")),  # noqa: B009
    ast.Mult: operator.mul,
}


class NotFoldedError(Exception):
    """The text alone does not say what it comes to."""


class Folder:
    """Folds the expressions of one file.

    Args:
        tree: the file.

    Example:
        >>> tree = ast.parse("a = 'mod'; b = ''.join([a, 'ules'[:3], chr(115)])")
        >>> Folder(tree).fold(tree.body[1].value)
        'modules'
    """

    def __init__(self, tree: ast.AST) -> None:
        self._bound: dict[str, ast.expr | None] = {}
        self._steps = 0
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0], node.value)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bound.setdefault(node.id, node)

    def fold(self, node: ast.expr) -> object:
        """The value, or None where the text alone does not say it."""
        self._steps = 0
        try:
            return self._fold(node, {})
        except RecursionError:
            return None
        except (NotFoldedError, ValueError, TypeError, LookupError, ArithmeticError, zlib.error):
            return None
        except AttributeError:
            return None

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            known = self._bound.get(target.id)
            # A name that is bound twice may be either.
            self._bound[target.id] = value if known is None else target

    def _fold(self, node: ast.expr, scope: Mapping[str, object]) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise NotFoldedError
        value = self._fold_part(node, scope)
        if not isinstance(value, int) and _size(value) > MAX_SIZE:
            raise NotFoldedError
        return value

    def _fold_part(self, node: ast.expr, scope: Mapping[str, object]) -> Any:
        value: Any
        match node:
            case ast.Constant():
                value = node.value
            case ast.Name():
                value = self._fold_name(node, scope)
            case ast.List() | ast.Tuple():
                value = [self._fold(element, scope) for element in node.elts]
            case ast.JoinedStr():
                value = "".join(str(self._fold(part, scope)) for part in node.values)
            case ast.FormattedValue(format_spec=None):
                value = self._fold(node.value, scope)
            case ast.BinOp():
                value = self._fold_operation(node, scope)
            case ast.UnaryOp(op=ast.USub()):
                value = -self._fold(node.operand, scope)
            case ast.Subscript():
                value = self._fold(node.value, scope)[self._fold_index(node.slice, scope)]
            case ast.ListComp() | ast.GeneratorExp():
                value = self._fold_loop(node, scope)
            case ast.Call(keywords=[]):
                value = self._fold_call(node, scope)
            case _:
                raise NotFoldedError
        return value

    def _fold_name(self, node: ast.Name, scope: Mapping[str, object]) -> object:
        if node.id in scope:
            return scope[node.id]
        if node.id in _FUNCTIONS and node.id not in self._bound:
            return _FUNCTIONS[node.id]
        bound = self._bound.get(node.id)
        if bound is None or isinstance(bound, ast.Name):
            raise NotFoldedError
        return self._fold(bound, scope)

    def _fold_operation(self, node: ast.BinOp, scope: Mapping[str, object]) -> object:
        if type(node.op) not in _OPERATORS:
            raise NotFoldedError
        left, right = self._fold(node.left, scope), self._fold(node.right, scope)
        if isinstance(node.op, ast.Mult):
            _keep_small(left, right)
        if isinstance(left, str) and re.search(r"[\d*]{4}", left):
            raise NotFoldedError  # `"%999999d" % 1`
        return _OPERATORS[type(node.op)](left, right)

    def _fold_index(self, node: ast.expr, scope: Mapping[str, object]) -> Any:
        if not isinstance(node, ast.Slice):
            return self._fold(node, scope)
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self._fold(part, scope) for part in parts))

    def _fold_loop(self, node: ast.ListComp | ast.GeneratorExp, scope: Mapping[str, object]) -> Any:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            raise NotFoldedError
        name, values = loop.target.id, self._fold(loop.iter, scope)
        return [self._fold(node.elt, {**scope, name: value}) for value in values]

    def _fold_call(self, node: ast.Call, scope: Mapping[str, object]) -> Any:
        given = [self._fold(argument, scope) for argument in node.args]
        if isinstance(node.func, ast.Name):
            function = self._fold_name(node.func, scope)
            return cast("Callable[..., Any]", function)(*given)
        if not isinstance(node.func, ast.Attribute):
            raise NotFoldedError
        name = node.func.attr
        if isinstance(node.func.value, ast.Name):
            owner = node.func.value.id
            if owner == "codecs" and name in ("decode", "encode"):
                return getattr(codecs, name)(*given)
            if owner in ("base64", "binascii", "zlib", "bytes", "str", "operator"):
                if name not in _FUNCTIONS:
                    raise NotFoldedError
                return _FUNCTIONS[name](*given)
        if name not in _METHODS:
            raise NotFoldedError
        value = self._fold(node.func.value, scope)
        _keep_small(value, *given)
        return getattr(value, name)(*given)


def _keep_small(*values: object) -> None:
    """What comes of several values is at most as large as their product."""
    product = 1
    for value in values:
        product *= max(_size(value), 1)
    if product > MAX_PRODUCT:
        raise NotFoldedError


def _size(value: object) -> int:
    if isinstance(value, int):
        return abs(value)
    return len(cast("str", value)) if isinstance(value, str | bytes | list) else 0
