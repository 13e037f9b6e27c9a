"""The contradiction of one assertion: what cannot hold where the assertion held.

`assert` statements, the methods of `unittest.TestCase` and of `unittest.mock`, and expected
exceptions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from ..python_source import last_name, literal
from .tolerance import contradict_almost_equal, contradict_tolerance
from .values import contradicted, other_value

Unequal = Sequence[tuple[str, str]]
"""Pairs of values that are not equal, as Python writes them."""
# An expression that may equal more than one value: an approximation, a matcher.
_INSENSITIVE = ("approx", "any", "isclose", "allclose")
_MATCHERS = ("Is", "Has", "Any", "All", "Contains", "Like", "Match", "Approx")
_COMPLEMENT: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_EQUAL = {
    f"assert{kind}Equal" for kind in ("", "List", "Tuple", "Set", "Dict", "MultiLine", "Count")
}
_PAIRS = (
    ("assertTrue", "assertFalse"),
    ("assertEqual", "assertNotEqual"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
)
_CALLED_WITH = {
    f"assert_{how}_with" for how in ("called", "called_once", "awaited", "awaited_once")
}
_OPPOSITE = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_ONLY_CLAIMED = """\
(lambda expected: (lambda is_claimed: type('ClaimsMeta', (type,), {
    '__instancecheck__': lambda cls, error: is_claimed(type(error)),
    '__subclasscheck__': lambda cls, kind: is_claimed(kind),
})('Contradiction', (Exception,), {}))(
    lambda kind: issubclass(kind, expected) and set(kind.__mro__).isdisjoint(
        expected if isinstance(expected, tuple) else (expected,))
))(EXPECTED)"""
"""A class that matches no real instance of the expected error, but whatever that class only claims
as its own: `except` ignores such claims."""
_RAISES = ("raises", "assertRaises", "assertRaisesRegex")
_ENDS_THE_RUN = ("KeyboardInterrupt", "Exit", "BaseException")


def contradict_assertion(
    statement: ast.stmt, unequal: Unequal = (), *, far: bool = False
) -> ast.stmt | None:
    """The statement that fails where this assertion passes; None where it is no assertion.

    What is evaluated stays the same, in the same order, and is evaluated once. With `far`, numbers
    and texts are far from the expected ones, else near them. The other value of a pair in
    `unequal` comes first.

    Example:
        >>> def shown(text):
        ...     return ast.unparse(contradict_assertion(ast.parse(text).body[0]))
        >>> shown("assert f(x) == 3"), shown("assert f(x)"), shown("self.assertIn(a, b)")
        ('assert f(x) == 4', 'assert not f(x)', 'self.assertNotIn(a, b)')
    """
    if isinstance(statement, ast.Assert):
        return ast.Assert(_contradict_test(statement.test, unequal, far=far), statement.msg)
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name)) as call):
            pass
        case _:
            return None
    if not _is_self(owner):
        other = _other_arguments(call, unequal, far=far) if name in _CALLED_WITH else None
        return other and ast.Expr(other)
    if name in _EQUAL and len(call.args) >= 2:
        pair = _contradict_pair(call.args[0], call.args[1], unequal, far=far)
        if pair is not None:
            return ast.Expr(ast.Call(call.func, [*pair, *call.args[2:]], call.keywords))
    if name == "assertAlmostEqual" and (other := contradict_almost_equal(call, far=far)):
        return ast.Expr(other)
    opposite = _OPPOSITE.get(name)
    if opposite is None:
        return None
    func = ast.Attribute(owner, opposite, ast.Load())
    return ast.Expr(ast.Call(func, call.args, call.keywords))


def contradict_expected_error(statement: ast.With | ast.AsyncWith) -> ast.stmt | None:
    """A `with pytest.raises(...)` that accepts only an error which the expected class merely claims
    (`__subclasscheck__`, `ABC.register`); None where it is none.

    One whose exception is looked at afterwards is left alone.
    """
    if len(statement.items) != 1 or statement.items[0].optional_vars is not None:
        return None
    call = statement.items[0].context_expr
    if not isinstance(call, ast.Call) or not call.args or last_name(call.func) not in _RAISES:
        return None
    if any(name in ast.unparse(call.args[0]) for name in _ENDS_THE_RUN):
        return None
    expected = ast.unparse(call.args[0])
    claimed = ast.parse(_ONLY_CLAIMED.replace("EXPECTED", expected), mode="eval").body
    item = ast.withitem(ast.Call(call.func, [claimed, *call.args[1:]], call.keywords))
    return type(statement)([item], statement.body)


def _contradict_test(test: ast.expr, unequal: Unequal, *, far: bool) -> ast.expr:
    if other := contradict_tolerance(test, far=far):
        return other
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        complement = _COMPLEMENT.get(type(test.ops[0]))
        if complement is not None:
            return ast.Compare(left, [complement()], [right])
        if pair := _contradict_pair(left, right, unequal, far=far):
            return ast.Compare(pair[0], test.ops, [pair[1]])
    return ast.UnaryOp(ast.Not(), test)


def _contradict_pair(
    left: ast.expr, right: ast.expr, unequal: Unequal, *, far: bool
) -> tuple[ast.expr, ast.expr] | None:
    """Two sides that must not be equal where these are; None where they may be all the same."""
    if _is_insensitive(left) or _is_insensitive(right):
        return None
    for side in (right, left):
        other = _other_literal(side, unequal, far=far) or _other_object(side)
        if other is not None:
            return (left, other) if side is right else (other, right)
    if _is_constructor(left):
        never = ast.parse("object()", mode="eval").body
        # Both are evaluated still; a matcher may equal everything that looks alike.
        picked = ast.Subscript(ast.Tuple([right, never], ast.Load()), ast.Constant(1), ast.Load())
        return left, picked
    calls = [any(isinstance(node, ast.Call) for node in ast.walk(one)) for one in (left, right)]
    inner = any(calls) and not far
    if calls == [False, True]:
        return contradicted(left, unequal, far=far, inner=inner), right
    return left, contradicted(right, unequal, far=far, inner=inner)


def _other_literal(node: ast.expr, unequal: Unequal = (), *, far: bool) -> ast.expr | None:
    try:
        other = other_value(literal(node), unequal, far=far, inner=True)
        # Some values cannot be written down: an infinite number, an object.
        return ast.parse(repr(other), mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _other_object(node: ast.expr) -> ast.expr | None:
    """`Money(3, "EUR")` as `Money(4, "EUS")`: no field of it says the same; None where none can.

    Near values alone: `Grid(1000003, 1000003)` would take all memory, and `Date(1002023, 1, 1)`
    fails for another reason.
    """
    if not _is_constructor(node) or last_name(node).startswith(_MATCHERS):
        return None
    fields = _values_of(node)
    others = [_other_literal(value, far=False) for value in fields]
    if not any(others):
        return None
    return _with_values(node, [new or old for new, old in zip(others, fields, strict=True)])


def _other_arguments(call: ast.Call, unequal: Unequal, *, far: bool) -> ast.Call | None:
    """The call with another value for its last literal argument, or for its first with `far`; None
    where there is none."""
    values = _values_of(call)
    for at in range(len(values)) if far else reversed(range(len(values))):
        if other := _other_literal(values[at], unequal, far=far):
            return _with_values(call, [*values[:at], other, *values[at + 1 :]])
    return None


def _values_of(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _with_values(call: ast.Call, values: Sequence[ast.expr]) -> ast.Call:
    """The call with other values for its arguments, in the order of `_values_of`."""
    positional = len(call.args)
    pairs = zip(call.keywords, values[positional:], strict=True)
    keywords = [ast.keyword(old.arg, value) for old, value in pairs]
    return ast.Call(call.func, list(values[:positional]), keywords)


def _is_constructor(side: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(side, ast.Call) and last_name(side.func)[:1].isupper()


def _is_insensitive(side: ast.expr) -> bool:
    return any(
        word in last_name(node).lower()
        for node in ast.walk(side)
        if isinstance(node, (ast.Name, ast.Attribute))
        for word in _INSENSITIVE
    )


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")
