"""Operands: one that is missing, and calls around each of two or around both."""

from __future__ import annotations

import ast
from typing import Iterator, List

from ..candidate import Proposal
from .site import Site, is_read

_VALUES = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute, ast.Constant)
_PLACES = (
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.Compare,
    ast.Call,
    ast.BinOp,
    ast.Slice,
    ast.IfExp,
    ast.ListComp,
    ast.GeneratorExp,
    ast.SetComp,
    ast.DictComp,
)
_SYMBOLS = ("*", "//", "/", "%", "-", "+")


def missing_operand(site: Site) -> Iterator[Proposal]:
    """A value multiplied, divided, reduced or raised by a number, a variable or a length."""
    node, parent = site.node, site.parent
    if not isinstance(node, _VALUES) or not isinstance(parent, _PLACES):
        return
    if not is_read(node):
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    if isinstance(node, ast.Constant) and not _countable(node):
        return
    own = site.text(node)
    if isinstance(node, ast.BinOp) and not own.startswith("("):
        own = "(" + own + ")"
    text_or_number = isinstance(node, ast.Constant)
    for rank, other in enumerate(_others(site, own)):
        if text_or_number and other.isdigit():
            continue
        for place, symbol in enumerate(("*", "+", "-") if text_or_number else _SYMBOLS):
            if symbol in "+-" and other == "1":
                continue
            cost = 2.1 + 0.03 * min(rank, 24) + 0.01 * place
            text = "%s %s %s" % (own, symbol, other)
            yield site.put(node, text, "`%s %s`" % (symbol, other), cost)
    if isinstance(node, ast.Constant):
        return
    yield site.put(node, own + " ** 2", "square it", 2.1)
    yield site.put(node, own + " ** 0.5", "its square root", 2.3)


def _countable(node: ast.Constant) -> bool:
    """Whether a literal is a text or a number that may be taken several times."""
    value: object = node.value
    if isinstance(value, str):
        return 0 < len(value) <= 3
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value != 0


def calls_around(site: Site) -> Iterator[Proposal]:
    """`f(a - b)` for `f(a) - f(b)`, and the other way round."""
    node = site.node
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        if isinstance(left, ast.Call) and isinstance(right, ast.Call):
            name = site.source.segment(left.func)
            if name == site.source.segment(right.func) and _single(left) and _single(right):
                between = _symbol(site, left, right)
                text = "%s(%s%s%s)" % (
                    name,
                    site.text(left.args[0]),
                    between,
                    site.text(right.args[0]),
                )
                yield site.put(node, text, "`%s` around both at once" % name, 1.5)
    elif isinstance(node, ast.Call) and _single(node) and isinstance(node.args[0], ast.BinOp):
        inner, name = node.args[0], site.source.segment(node.func)
        sides = tuple("%s(%s)" % (name, site.source.segment(s)) for s in (inner.left, inner.right))
        text = sides[0] + _symbol(site, inner.left, inner.right) + sides[1]
        yield site.put(node, text, "`%s` around each operand" % name, 1.7)


def _single(call: ast.Call) -> bool:
    return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)


def _symbol(site: Site, left: ast.expr, right: ast.expr) -> str:
    return site.source.text[site.source.outer_span(left)[1] : site.source.outer_span(right)[0]]


def _others(site: Site, own: str) -> List[str]:
    names = [name for name in site.scope.variables[:6] if name != own]
    numbers = ["2"] + [number for number in site.material.numbers if number != "0"][:4]
    found = numbers + names + ["len(%s)" % name for name in site.scope.variables[:4]] + ["10"]
    calls = [text for text, node in site.material.expressions if isinstance(node, ast.Call)]
    found += [text for text in calls[:4] if text != own]
    farther = [name for name in site.scope.variables[6:12] if name != own]
    return list(dict.fromkeys(found + farther))
