"""Values that must not equal what a test expects: near ones, and far ones.

Near, so that no answer which equals all that looks alike passes for a real one. Far, so that no
answer which equals all but its neighbors does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

Unequal = Sequence[tuple[str, str]]
"""Pairs of values that are not equal, as Python writes them."""

_FAR = 1e15
"""From here on a float plus one could be rounded to itself."""

_STEP = 1_000_003
"""How far a number is that is far."""

_AT_RUN_TIME = """(lambda f, v: f(f, v))(lambda f, v: not v if v is True or v is False
 else v + 1 if type(v) is int
 else v + 1.0 if type(v) is float and -1e15 < v < 1e15
 else v + 'x' if type(v) is str
 else v + b'x' if type(v) is bytes
 else INNER if type(v) in (list, tuple, dict) and v
 else type(v)(v.__name__, v.__bases__, {}) if isinstance(v, type)
 else v + __import__('datetime').timedelta(1)
  if type(v).__module__ == 'datetime' and type(v).__name__ in ('date', 'datetime', 'timedelta')
 else (v.scaleb(1) if v else v + 1)
  if type(v).__module__ == 'decimal' and type(v).__name__ == 'Decimal' and v.is_finite()
 else v + 1 if type(v).__module__ == 'fractions'
 else object(), 0)"""
_LONGER = "(object() if type(v) is dict else v + v[-1:])"
_LAST_ITEM = """({**v, list(v)[-1]: f(f, v[list(v)[-1]])} if type(v) is dict
 else type(v)([*v[:-1], f(f, v[-1])]))"""
_AWAY = f"""(lambda v: v + {_STEP} if type(v) in (int, float) and -1e6 < v < 1e6
 else v + v[-1:] if type(v) in (list, tuple) and v
 else object())(0)"""
MAX_TOLERANCE = 1000
"""The largest tolerance that `away_from` is certainly beyond."""


def contradiction_of(value: object, *, far: bool = False) -> object | None:
    """A value that nothing honest equals when it equals `value`; None where there is none.

    Example:
        >>> contradiction_of(3), contradiction_of("a"), contradiction_of([1, 2])
        (4, 'b', [1, 3])
        >>> contradiction_of(3, far=True)
        1000006
    """
    if far and type(value) in (int, float, str, bytes):
        return _far_from(value)
    other = _OTHER.get(type(value))
    return None if other is None else other(value)


def _far_from(value: Any) -> object | None:
    match value:
        case str():
            return value[::-1] * 2 + "x" * 17
        case bytes():
            return value[::-1] * 2 + b"x" * 17
        case _:
            return value + _STEP if abs(value) < _FAR else None


def contradicted(
    expected: ast.expr, unequal: Unequal = (), *, far: bool = False, inner: bool = False
) -> ast.expr:
    """An expression whose value contradicts that of `expected`, which is found when it runs.

    It is the other value of a pair in `unequal`, where there is one. With `inner`, lists and dicts
    keep their size, and their last value is another. Where the other side could hold a matcher
    (`unittest.mock.ANY`), that is no contradiction.

    Example:
        >>> shown = ast.unparse(contradicted(ast.parse("price", mode="eval").body))
        >>> eval(shown, {"price": 3}), eval(shown, {"price": "b"}), eval(shown, {"price": [1]})
        (4, 'bx', [1, 1])
        >>> shown = ast.unparse(contradicted(ast.parse("price", mode="eval").body, [("3", "2")]))
        >>> eval(shown, {"price": 3}), eval(shown, {"price": 4})
        (2, 5)
    """
    text = _AT_RUN_TIME.replace("INNER", _LAST_ITEM if inner else _LONGER)
    if far:
        text = text.replace("+ 1 ", f"+ {_STEP} ").replace("+ 1.0", f"+ {_STEP}.0")
        text = text.replace("'x'", "'x' * 17").replace("timedelta(1)", "timedelta(-1)")
    if unequal:
        pairs = ", ".join(f"({known!r}, {other})" for known, other in unequal)
        found = f"*(o for k, o in [{pairs}] if k == repr(v))"
        text = f"(lambda v: [{found}, {text.removesuffix('0)')}v)][0])(0)"
    return _called(text, expected)


def away_from(expected: ast.expr) -> ast.expr:
    """An expression whose value is far from that of `expected`: beyond a usual tolerance.

    Example:
        >>> shown = ast.unparse(away_from(ast.parse("price", mode="eval").body))
        >>> eval(shown, {"price": 3.0}), eval(shown, {"price": [1, 2]})
        (1000006.0, [1, 2, 2])
    """
    return _called(_AWAY, expected)


def _called(text: str, expected: ast.expr) -> ast.expr:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    call.args[-1] = expected
    return call


def _other_text(text: str) -> str:
    if not text:
        return "x"
    last = text[-1]
    return text[:-1] + (chr(ord(last) + 1) if "0" <= last < "z" else "x" if last != "x" else "y")


def _other_bytes(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1]) if data else b"x"


def _other_items(items: list[Any]) -> list[Any]:
    """Another last element; one more where there is none, or none that can be contradicted."""
    other = contradiction_of(items[-1]) if items else None
    return [*items, 0] if other is None else [*items[:-1], other]


def _other_dict(values: dict[Any, Any]) -> dict[Any, Any]:
    for key, value in values.items():
        other = contradiction_of(value)
        if other is not None:
            return {**values, key: other}
    return {**values, len(values): 0} if len(values) not in values else {}


def _other_set(values: set[Any]) -> set[Any]:
    return {*values, next(number for number in range(len(values) + 1) if number not in values)}


_OTHER: dict[type, Callable[[Any], object]] = {
    bool: lambda value: not value,
    int: lambda value: value + 1,
    float: lambda value: value + 1 if abs(value) < _FAR else None,
    str: _other_text,
    bytes: _other_bytes,
    type(None): lambda value: False,
    list: _other_items,
    tuple: lambda value: tuple(_other_items(list(value))),
    set: _other_set,
    dict: _other_dict,
}
