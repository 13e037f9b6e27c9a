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
from typing import Any, Dict, List

import _retrai_record
from _retrai_values import TEST_NAME

MAX_SECTION = 3000
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
    return text if len(text) <= MAX_SECTION else ""


def compared_by(error: AssertionError) -> List[str]:
    """What the assertion compared; empty where that cannot be known."""
    try:
        return _told(str(error)) or _asserted(error)
    except Exception:  # noqa: BLE001 - code of the project, or a text that is no value
        return []


def _told(message: str) -> List[str]:
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


def _asserted(error: AssertionError) -> List[str]:
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
    """What an expression of names, attributes and items has; no code of the project runs for it.

    Raises:
        Exception: it is another one, or something is not there.
    """
    if isinstance(node, ast.Name):
        return {**frame.f_globals, **frame.f_locals}[node.id]
    if isinstance(node, ast.Attribute):
        return object.__getattribute__(_value(node.value, frame), "__dict__")[node.attr]
    if isinstance(node, ast.Subscript):
        held, at = _value(node.value, frame), _value(node.slice, frame)
        if type(held) not in (dict, list, tuple) or type(at) not in (int, str):
            raise TypeError(held)
        return held[at]
    return ast.literal_eval(node)
