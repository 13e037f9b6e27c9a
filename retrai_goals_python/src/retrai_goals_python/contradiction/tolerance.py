"""The contradiction of what holds for more than one value: approximations, distances, ranges.

The tolerance stays, and the expected value moves beyond it, a little or far. No value that was near
enough is near enough then, unless it is near to more than it may be.
"""

from __future__ import annotations

import ast
from functools import partial

from ..python_source import last_name, literal
from .values import MAX_TOLERANCE, away_from, beyond

_MAX_RELATIVE = 0.1
_DEFAULTS = {"approx": (1e-6, 1e-12), "isclose": (1e-9, 0.0), "assertAlmostEqual": (0.0, 5e-8)}
"""Relative and absolute tolerances, as pytest, `math` and `unittest` document them."""
_LESS, _GREATER = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def contradict_tolerance(test: ast.expr, *, far: bool) -> ast.expr | None:
    """What an assertion asks, about a value outside of its tolerance, a little or far; None where
    that is not certain.

    Example:
        >>> def is_kind(text):
        ...     return contradict_tolerance(ast.parse(text, mode="eval").body, far=True) is not None
        >>> is_kind("f(x) == approx(2.5)"), is_kind("f(x) == approx(2.5, abs=limit)")
        (True, False)
        >>> is_kind("2 < f(x) < 3"), is_kind("abs(f(x) - 2.5) < 0.1"), is_kind("f(x) < 3")
        (True, True, False)
    """
    match test:
        case ast.Compare(left, [ast.Eq()], [ast.Call() as call]) if last_name(call) == "approx":
            other = _moved(call, 0, far=far)
            return other and ast.Compare(left, test.ops, [other])
        case ast.Compare(ast.Call() as call, [ast.Eq()], [right]) if last_name(call) == "approx":
            other = _moved(call, 0, far=far)
            return other and ast.Compare(other, test.ops, [right])
        case ast.Call(args=[left, right, *_]) if last_name(test) == "isclose":
            return _moved(test, _expected(left, right), far=far)
        case ast.Compare(
            ast.Call(ast.Name("abs") as func, [ast.BinOp(left, ast.Sub() as minus, right)]),
            [ast.Lt() | ast.LtE()],
            [limit],
        ) if (tolerance := _number(limit)) is not None:
            sides = [left, right]
            at = _expected(left, right)
            sides[at] = away_from(sides[at]) if far else beyond(sides[at], 0, tolerance)
            distance = ast.Call(func, [ast.BinOp(sides[0], minus, sides[1])], [])
            return ast.Compare(distance, test.ops, [limit])
        case ast.Compare(low, [first, second], [value, high]) if far:
            kind = _LESS if isinstance(first, _LESS) else _GREATER
            is_range = isinstance(first, kind) and isinstance(second, kind)
            if not is_range or _number(low) is None or _number(high) is None:
                return None
            return ast.Compare(away_from(low), test.ops, [value, away_from(high)])
        case _:
            return None


def contradict_almost_equal(call: ast.Call, *, far: bool) -> ast.Call | None:
    """`assertAlmostEqual` about a value out of its tolerance; None where that is not certain."""
    return _moved(call, _expected(*call.args[:2]), far=far) if len(call.args) >= 2 else None


def _moved(call: ast.Call, at: int, *, far: bool) -> ast.Call | None:
    """The call with another expected value; None where its tolerance may reach that far."""
    last = 1 if last_name(call) == "approx" else 2
    if any(isinstance(value, ast.Starred) for value in call.args):
        return None
    tolerances = _tolerances(call) if 0 < len(call.args) <= last else None
    if tolerances is None:
        return None
    moved = away_from if far else partial(beyond, relative=tolerances[0], absolute=tolerances[1])
    args = [moved(value) if at == place else value for place, value in enumerate(call.args)]
    return ast.Call(call.func, args, call.keywords)


def _tolerances(call: ast.Call) -> tuple[float, float] | None:
    """The relative and the absolute tolerance of a call; None where one is no small number as
    written, or an argument is not known."""
    relative, absolute = _DEFAULTS[last_name(call)]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    for name, value in given.items():
        match name, _number(value):
            case "msg" | "nan_ok", _:
                pass
            case "rel" | "rel_tol", float() | int() as number if abs(number) <= _MAX_RELATIVE:
                relative = number
            case "abs" | "abs_tol" | "delta", float() | int() as number:
                absolute = number
                relative = relative if "rel" in given or last_name(call) != "approx" else 0.0
            case "places", float() | int() as number if number >= 0:
                absolute = 10.0**-number
            case _:
                return None
    return relative, absolute


def _number(value: ast.expr) -> float | None:
    """A number as written; None for all else, and for one beyond the limit, whatever its sign."""
    try:
        number = literal(value)
    except ValueError:
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    return number if abs(number) <= MAX_TOLERANCE else None


def _expected(left: ast.expr, right: ast.expr) -> int:
    """Which of two values is the expected one: the one without a call, else the second."""
    calls = [any(isinstance(node, ast.Call) for node in ast.walk(side)) for side in (left, right)]
    return 0 if calls[1] and not calls[0] else 1
