"""What a failed test compared, as texts: two values and, where it is not `==`, the comparison.

Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import traceback
import types
from collections import ChainMap
from typing import Any, Dict, List

import _retrai_record
from _retrai_values import TEST_NAME

MAX_VALUE_CHARS = 3000
COMPARING = re.compile(r"^ \+  where False = (\w+)(\(.*\))$", re.MULTILINE)
OPERATORS: Dict[type, List[str]] = {
    ast.Eq: [],
    ast.In: ["in"],
    ast.Lt: ["<"],
    ast.LtE: ["<="],
    ast.Gt: [">"],
    ast.GtE: [">="],
}


def written(value: Any) -> str:
    """A value as Python writes it; empty where it is not plain, or long."""
    try:
        text = repr(value) if type(value) in _retrai_record.WRITTEN else ""
    except Exception:  # noqa: BLE001 - of an object in it
        return ""
    return text if len(text) <= MAX_VALUE_CHARS else ""


def compared_by(error: AssertionError) -> List[str]:
    """What the assertion compared; empty where that cannot be known."""
    try:
        return _values_in_message(str(error)) or _values_of_assert(error)
    except Exception:  # noqa: BLE001 - code of the project, or a text that is no value
        return []


def _values_in_message(message: str) -> List[str]:
    """The values that unittest names, or pytest as the arguments of a function that answered
    False, with its name."""
    helper = COMPARING.search(message)
    if helper:
        one, other = ast.literal_eval(helper.group(2))
        return [repr(one), repr(other), helper.group(1)]
    sides = message.partition("\n")[0].partition(" : ")[0].split(" != ")
    return sides if len(sides) == 2 and all(map(_is_value, sides)) else []


def _is_value(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _values_of_assert(error: AssertionError) -> List[str]:
    """The values of an `assert` that pytest has not rewritten, in a helper of the tests."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    path = frame.f_code.co_filename
    if not TEST_NAME.search(os.path.relpath(path).replace(os.sep, "/")):
        return []
    (statement,) = ast.parse(linecache.getline(path, line).strip()).body
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return []
    left, (right,) = statement.test.left, statement.test.comparators
    operator = OPERATORS[type(statement.test.ops[0])]
    return [*(written(_value(side, frame)) for side in (left, right)), *operator]


def _value(node: ast.expr, frame: types.FrameType) -> Any:
    """The value of an expression of names, attributes and items; runs no code of the project.

    Raises:
        Exception: it is another expression, or something in it does not exist.
    """
    if isinstance(node, ast.Name):
        return ChainMap(frame.f_locals, frame.f_globals)[node.id]
    if isinstance(node, ast.Attribute):
        return object.__getattribute__(_value(node.value, frame), "__dict__")[node.attr]
    if isinstance(node, ast.Subscript):
        held, at = _value(node.value, frame), _value(node.slice, frame)
        if type(held) not in (dict, list, tuple) or type(at) not in (int, str):
            raise TypeError(held)
        return held[at]
    return ast.literal_eval(node)
