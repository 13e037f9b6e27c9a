"""Literals further off: any number or character near it, what the docstring names, one more."""

from __future__ import annotations

import ast
import re
import string
from typing import Iterator, List, Union

from ..candidate import Proposal
from .comparisons import integer
from .site import Site, is_read

_REACH = 128
_SEPARATORS = (",", " ", "\\n", ";", ":", "-", "_", ".", "/", "|", "\\t", ", ")
_CUTTING = frozenset("split rsplit join replace strip lstrip rstrip partition rpartition".split())
_MODES = ("w", "r", "wb", "rb", "a")
_LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits
_SETS = (
    "aeiou",
    "AEIOU",
    "aeiouAEIOU",
    "aeiouy",
    string.ascii_lowercase,
    string.ascii_uppercase,
    string.ascii_letters,
    string.digits,
    string.digits + "abcdef",
    string.digits + "ABCDEF",
    "()[]{}",
    "+-*/",
    ".,;:!?",
)
_QUOTED = re.compile(r"""(?<!\w)(['"])([^'"\\\n]{1,20})\1(?!\w)""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)")


def further_numbers(site: Site) -> Iterator[Proposal]:
    """Any other small integer, the nearest first."""
    node = site.node
    value = integer(node)
    if not isinstance(node, ast.Constant) or value is None or abs(value) > 2 * _REACH:
        return
    signed = isinstance(site.parent, ast.UnaryOp)
    for rank, step in enumerate(range(2, _REACH)):
        for other in (value + step, value - step):
            if 0 <= other <= _REACH or (0 > other >= -9 and not signed):
                yield site.put(
                    node, str(other), "`%d` for `%d`" % (other, value), 2.1 + 0.012 * rank
                )


def further_texts(site: Site) -> Iterator[Proposal]:
    """Another separator or character; one more character in a text that is a set of them."""
    node = site.node
    if not isinstance(node, ast.Constant) or isinstance(site.parent, (ast.Expr, ast.JoinedStr)):
        return
    value: object = node.value
    segment = site.source.segment(node)
    if not isinstance(value, str) or "\\" in segment or segment[:1] not in "\"'":
        return
    quote = segment[0]
    if len(value) < 2:
        cuts = _cuts(site)
        for rank, other in enumerate(_SEPARATORS if cuts else ()):
            yield site.put(node, quote + other + quote, "separate at %r" % other, 2.0 + 0.01 * rank)
        for rank, other in enumerate(_LETTERS + string.punctuation if value else ""):
            if other not in (quote, "\\", value):
                kind = "`%s` for `%s`" % (other, value)
                yield site.put(node, quote + other + quote, kind, 2.3 + 0.008 * rank)
        return
    for other in _SETS:
        if other != value and 2 * len(set(value) & set(other)) > len(set(value)):
            yield site.put(node, quote + other + quote, "the usual characters", 2.05)
    if len(value) <= 62 and len(set(value)) == len(value) and _looked_up(site):
        for rank, other in enumerate(_LETTERS + string.punctuation):
            if other not in value and other not in (quote, "\\"):
                end = site.source.span(node)[1] - 1
                yield site.between(end, end, other, "also `%s`" % other, 2.1 + 0.01 * rank)


def open_modes(site: Site) -> Iterator[Proposal]:
    """Another mode to open a file with: for reading or writing, as text or bytes."""
    node, call = site.node, site.parent
    if not isinstance(node, ast.Constant) or not isinstance(call, ast.Call):
        return
    opens = "open" in (getattr(call.func, "id", ""), getattr(call.func, "attr", ""))
    for rank, other in enumerate(_MODES if opens and node.value in _MODES else ()):
        if other != node.value:
            kind = "`%s` for `%s`" % (other, node.value)
            yield site.put(node, '"%s"' % other, kind, 2.0 + 0.01 * rank)


def _cuts(site: Site) -> bool:
    """Whether a text is where another text is cut or joined."""
    parent = site.parent
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in _CUTTING
    return isinstance(parent, ast.Attribute) and parent.attr in _CUTTING


def _looked_up(site: Site) -> bool:
    """Whether a text may be one that others are looked up in."""
    parent = site.parent
    if isinstance(parent, ast.Compare):
        return any(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    return isinstance(parent, (ast.Assign, ast.Call, ast.Attribute))


def documented(site: Site) -> Iterator[Proposal]:
    """A literal that the function's docstring names, for one of the same type."""
    node = site.node
    if not isinstance(node, ast.Constant) or isinstance(site.parent, (ast.Expr, ast.JoinedStr)):
        return
    value: object = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return
    own = site.source.segment(node)
    if own.endswith(('"""', "'''")):
        return
    for rank, other in enumerate(named_literals(site)):
        if isinstance(other, str) == isinstance(value, str) and other != value:
            yield site.put(node, repr(other), "`%r` for `%s`" % (other, own), 2.0 + 0.02 * rank)


def named_literals(site: Site) -> List[Union[int, float, str]]:
    """Numbers and quoted texts in the prose of the docstring around a place, not its examples."""
    function = site.scope.functions[-1] if site.scope.functions else None
    if function is None or isinstance(function, ast.Lambda):
        return []
    prose = (ast.get_docstring(function) or "").split(">>>")[0]
    found: List[Union[int, float, str]] = [match.group(2) for match in _QUOTED.finditer(prose)]
    for match in _NUMBER.finditer(prose):
        text = match.group()
        found.append(float(text) if "." in text else int(text))
    return list(dict.fromkeys(found))[:24]


def one_more_element(site: Site) -> Iterator[Proposal]:
    """An element that a literal collection of numbers or characters may lack."""
    node = site.node
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)) or len(node.elts) < 2:
        return
    if not is_read(node):
        return
    values: List[object] = [getattr(element, "value", None) for element in node.elts]
    end = site.source.outer_span(node.elts[-1])[1]
    others: List[Union[int, str]] = []
    if all(integer(element) is not None for element in node.elts):
        others = list(range(21))
    elif all(isinstance(value, str) and len(value) == 1 for value in values):
        others = list(_LETTERS)
    for rank, other in enumerate(o for o in others if o not in values):
        yield site.between(end, end, ", %r" % other, "also `%r`" % other, 2.2 + 0.01 * rank)
