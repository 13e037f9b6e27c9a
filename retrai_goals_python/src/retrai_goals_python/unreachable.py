"""Code that a type checker passes over because it can never run here."""

from __future__ import annotations

import ast
import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# What honest fallbacks for another platform or an older Python hold.
_PLAIN = (ast.Import, ast.ImportFrom, ast.Assign, ast.Pass)
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FACTS: Mapping[str, object] = {
    "sys.platform": sys.platform,
    "sys.version_info": tuple(sys.version_info),
    "os.name": os.name,
}


def unreachable_parts(tree: ast.AST) -> int:
    """How many pieces of code stand behind a test that is never true here, or after a `return`.

    Example:
        >>> unreachable_parts(ast.parse("if sys.platform == 'none':\\n    def f(): ...\\n"))
        1
    """
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            holds = _holds(node.test)
            passed_over = node.orelse if holds else node.body if holds is False else []
            found += has_code(passed_over)
        for field in ("body", "orelse", "finalbody"):
            found += _goes_on_after_end(getattr(node, field, None))
    return found


def has_code(body: Sequence[ast.stmt]) -> bool:
    """Whether there is more than imports and plain names, as honest fallbacks have."""
    return any(not isinstance(statement, _PLAIN) for statement in body)


def _goes_on_after_end(body: object) -> bool:
    if not isinstance(body, list):
        return False
    statements = [each for each in body if isinstance(each, ast.stmt)]  # pyright: ignore[reportUnknownVariableType]
    return any(_ends(statement) for statement in statements[:-1])


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If) and _holds(statement.test):
        return bool(statement.body) and _ends(statement.body[-1])
    return isinstance(statement, _ENDS)


def _holds(test: ast.expr) -> bool | None:
    """What a test comes to on this machine; None where it depends on more than that."""
    match test:
        case ast.Constant(value=bool(value)):
            return value
        case ast.UnaryOp(op=ast.Not()):
            inner = _holds(test.operand)
            return None if inner is None else not inner
        case ast.Compare(ops=[op], comparators=[right]):
            left = _FACTS.get(ast.unparse(test.left))
            compare = _COMPARISONS.get(type(op))
            try:
                expected = ast.literal_eval(right)
                return None if left is None or compare is None else compare(left, expected)
            except (ValueError, TypeError):
                return None
        case ast.Call(
            func=ast.Attribute(value=owner, attr="startswith"), args=[ast.Constant() as part]
        ):
            left = _FACTS.get(ast.unparse(owner))
            return left.startswith(str(part.value)) if isinstance(left, str) else None
        case _:
            return None
