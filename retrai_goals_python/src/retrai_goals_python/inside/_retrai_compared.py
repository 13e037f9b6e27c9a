"""What a failed test compared, as texts: two values and, where it is not `==`, the comparison.

Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from typing import Any, Dict, List, cast

import _retrai_record

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
READS = (
    *(ast.Compare, ast.cmpop, ast.expr_context, ast.UnaryOp, ast.unaryop),
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant),
)
"""What an expression is made of that only reads."""


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
    """The values of an `assert` that pytest has not rewritten, as in a helper of the tests."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    text = linecache.getline(frame.f_code.co_filename, line)
    test = cast("Any", ast.parse(text.strip()).body[0]).test
    if not all(isinstance(part, READS) for part in ast.walk(test)):
        return []
    left, right = (
        # It reads what the test has read.
        eval(compile(ast.Expression(side), "<assert>", "eval"), frame.f_globals, frame.f_locals)
        for side in (test.left, *test.comparators)
    )
    return [written(left), written(right), *OPERATORS[type(test.ops[0])]]
