"""Values that must not equal what a test expects: near ones, and far ones.

Near, so that no answer which equals all that looks alike passes for a real one. Far, so that no
answer which equals all but its neighbors does.

Values that are known only when a test runs are contradicted there: a changed test file gets this
module as a text. So it uses nothing but the standard library, of Python 3.7 on.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

NAME = "_retrai_values"
"""What this module is called in a changed test file."""
MAX_TOLERANCE = 1000
"""The largest tolerance that `away_from` is certainly beyond."""
_STEP = 1_000_003
"""How far a number is that is far."""
_TOLERANCES, _LEAST = 10, 1e-12
"""How many tolerances a number is moved, and the smallest one."""
_LARGE = 1e15
"""From here on a float plus one could be rounded to itself."""


def near_value(value: Any, inner: bool = True) -> Any:
    """A value that nothing honest equals when it equals `value`; an object where there is none.

    Args:
        value: what is expected.
        inner: lists and dicts keep their size, and their last value is another. Where the other
            side could hold a matcher (`unittest.mock.ANY`), that is no contradiction.

    Example:
        >>> near_value(3), near_value("a"), near_value([1, 2]), near_value([1, 2], inner=False)
        (4, 'b', [1, 3], [1, 2, 2])
    """
    kind = construct = cast("Any", type(value))
    found: Any = object()
    if value is None or kind is bool:
        found = value is False
    elif kind in (int, Fraction) or (kind is float and abs(value) < _LARGE):
        found = value + 1
    elif kind is str:
        found = value[:-1] + _other_letter(value[-1:])
    elif kind is bytes:
        found = value[:-1] + (bytes([value[-1] ^ 1]) if value else b"x")
    elif kind in (list, tuple) and inner and value:
        found = construct([*value[:-1], near_value(value[-1])])
    elif kind in (list, tuple):
        found = value + (value[-1:] or construct([0]))
    elif kind is dict and inner:
        last = list(value)[-1] if value else 0
        found = {**value, last: near_value(value.get(last))}
    elif kind is set:
        found = value | {number for number in range(len(value) + 1) if number not in value}
    elif issubclass(kind, type):
        found = construct(value.__name__, value.__bases__, {})
    elif kind in (dt.date, dt.datetime, dt.timedelta):
        found = value + dt.timedelta(1)
    elif kind is Decimal and value.is_finite():
        found = value.scaleb(1) if value else value + 1
    return found


def far_value(value: Any) -> Any:
    """A value that is not even near: beyond a usual tolerance, with nothing of the text left.

    Example:
        >>> far_value(3), far_value(2.5), far_value("ab")
        (1000006, 1000005.5, 'babaxxxxxxxxxxxxxxxxx')
    """
    kind = cast("Any", type(value))
    if kind is int or (kind is float and abs(value) < _LARGE):
        return value + _STEP
    if kind in (str, bytes):
        return value[::-1] * 2 + ("x" if kind is str else b"x") * 17
    if kind in (dt.date, dt.datetime, dt.timedelta):
        return value - dt.timedelta(1)
    return near_value(value, inner=False)


def away_value(value: Any) -> Any:
    """A value that is beyond a usual tolerance, and an object where none certainly is.

    Example:
        >>> away_value(3.0), away_value([1, 2])
        (1000006.0, [1, 2, 2])
    """
    if type(value) in (int, float) and -1e6 < value < 1e6:
        return far_value(value)
    return near_value(value, inner=False) if type(value) in (list, tuple) and value else object()


def beyond_value(value: Any, relative: float, absolute: float) -> Any:
    """A number outside of a tolerance, by nine times as much; an object where there is none.

    Example:
        >>> beyond_value(20, 0.0, 0.5), beyond_value([1.0, 10.0], 0.01, 0.0)
        (25.0, [1.1, 11.0])
    """
    if type(value) in (int, float) and -_LARGE < value < _LARGE:
        tolerance = max(max(relative, _LEAST) * abs(value), absolute, _LEAST)
        return value + _TOLERANCES * tolerance
    if type(value) in (list, tuple) and value:
        return type(value)([beyond_value(each, relative, absolute) for each in value])
    return object()


def other_value(
    value: Any, unequal: Sequence[tuple[str, str]] = (), far: bool = False, inner: bool = False
) -> Any:
    """A value that contradicts `value`: the other one of a pair in `unequal` (as Python writes
    them), where there is one, else what `far_value` or `near_value` says.

    Example:
        >>> other_value(3, [("3", "2")]), other_value(4, [("3", "2")])
        (2, 5)
    """
    shown = repr(value) if unequal else ""
    for known, other in unequal:
        if known == shown:
            return ast.literal_eval(other)
    return far_value(value) if far else near_value(value, inner)


def note_if_expected(value: Any, expected: Sequence[str], seen: list[Any]) -> Any:
    """The value, which is appended to `seen` where it is one of the expected ones (as Python writes
    them).

    Example:
        >>> seen = []
        >>> [note_if_expected(value, ["'a'"], seen) for value in "ab"], seen
        (['a', 'b'], ['a'])
    """
    with suppress(Exception):  # code of the project
        if repr(value) in expected:
            seen.append(value)
    return value


def contradicted(
    expected: ast.expr,
    unequal: Sequence[tuple[str, str]] = (),
    *,
    far: bool = False,
    inner: bool = False,
) -> ast.expr:
    """An expression whose value is what `other_value` says of that of `expected`."""
    return _called("other_value", expected, f"{[*unequal]}, {far}, {inner}")


def away_from(expected: ast.expr) -> ast.expr:
    """An expression whose value is that of `away_value`."""
    return _called("away_value", expected)


def beyond(expected: ast.expr, relative: float, absolute: float) -> ast.expr:
    """An expression whose value is that of `beyond_value`."""
    return _called("beyond_value", expected, f"{relative}, {absolute}")


def noting_expected(value: ast.expr, expected: Sequence[str], seen: str) -> ast.expr:
    """An expression of the same value, which `note_if_expected` notes in the list named `seen`."""
    return _called("note_if_expected", value, f"{[*expected]}, {seen}")


def definitions() -> bytes:
    """What a changed test file needs at its end."""
    with open(__file__, encoding="utf-8") as file:
        source = file.read()
    return f"\n{NAME} = {{'__name__': {NAME!r}}}\nexec({source!a}, {NAME})\n".encode()


def _called(name: str, value: ast.expr, more: str = "") -> ast.expr:
    """A call of a function above with a value, and with more arguments as Python writes them."""
    call = cast("ast.Call", ast.parse(f"{NAME}[{name!r}]({more})", mode="eval").body)
    return ast.Call(call.func, [value, *call.args], [])


def _other_letter(letter: str) -> str:
    if "0" <= letter < "z":
        return chr(ord(letter) + 1)
    return "x" if letter != "x" else "y"
