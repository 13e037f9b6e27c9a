"""Arithmetic and literals: another operator, a part left out, a number one off."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List

from ..candidate import Proposal
from .comparisons import integer
from .site import Site, is_read

_SYMBOLS: Dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
_NEAREST = {
    "+": ["-", "*", "/", "//"],
    "-": ["+", "*", "//", "%", "/"],
    "*": ["+", "**", "//", "/", "-"],
    "/": ["//", "*", "%", "-"],
    "//": ["/", "%", "*", "-"],
    "%": ["//", "/", "*", "-", "+"],
    "**": ["*", "//", "%"],
    "<<": [">>", "*"],
    ">>": ["<<", "//"],
    "&": ["|", "^"],
    "|": ["&", "^"],
    "^": ["&", "|", "**"],
    "@": ["*"],
}


def binary(site: Site) -> Iterator[Proposal]:
    """Another operator, the operands exchanged, one of them left out, the result one off."""
    node = site.node
    if not isinstance(node, ast.BinOp):
        return
    left, right = site.source.outer_span(node.left), site.source.outer_span(node.right)
    symbol = _SYMBOLS[type(node.op)]
    step = symbol in "+-" and isinstance(node.right, ast.Constant)
    for rank, other in enumerate(_NEAREST[symbol]):
        text = " " + other + " "
        base = 1.5 if step and other not in "+-" else 1.0
        yield site.between(
            left[1], right[0], text, "`%s` for `%s`" % (other, symbol), base + 0.03 * rank
        )
    yield site.put(node, site.text(node.left), "drop the right operand", 1.1 if step else 1.2)
    yield site.put(node, site.text(node.right), "drop the left operand", 1.3)
    if symbol in "-/%**//<<>>" or not (integer(node.left) or integer(node.right)):
        swapped = "%s %s %s" % (site.text(node.right), symbol, site.text(node.left))
        yield site.between(
            left[0], right[1], swapped, "exchange the operands of `%s`" % symbol, 1.3
        )
    inner = node.left
    if isinstance(inner, ast.BinOp) and site.source.outer_span(inner) == site.source.span(inner):
        grouped = "%s %s (%s %s %s)" % (
            site.text(inner.left),
            _SYMBOLS[type(inner.op)],
            site.text(inner.right),
            symbol,
            site.text(node.right),
        )
        yield site.put(node, grouped, "group the right operands", 1.6)
        yield site.put(
            node,
            "%s %s %s" % (site.text(inner.left), symbol, site.text(node.right)),
            "drop the middle operand",
            1.4,
        )
    if isinstance(node.right, ast.BinOp):
        outer = "(%s %s %s) %s %s" % (
            site.text(node.left),
            symbol,
            site.text(node.right.left),
            _SYMBOLS[type(node.right.op)],
            site.text(node.right.right),
        )
        yield site.put(node, outer, "group the left operands", 1.6)


def unary(site: Site) -> Iterator[Proposal]:
    """A sign dropped."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        yield site.put_whole(node, site.text(node.operand), "drop the sign", 1.2)


def one_off(site: Site) -> Iterator[Proposal]:
    """A bound, an index or an argument one more or one less."""
    node, parent = site.node, site.parent
    if not isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Attribute, ast.Subscript)):
        return
    if not is_read(node):
        return
    if isinstance(parent, ast.Call):
        if parent.func is node:
            return
        name = parent.func.id if isinstance(parent.func, ast.Name) else ""
        cost = 1.1 if name == "range" else 1.7
    elif isinstance(parent, ast.Slice) or (
        isinstance(parent, ast.Subscript) and parent.value is not node
    ):
        cost = 1.1
    elif isinstance(parent, (ast.Return, ast.Assign, ast.AugAssign, ast.BinOp, ast.IfExp)):
        cost = 1.6
    elif type(parent).__name__ == "Index":  # Python 3.8 wraps the index
        cost = 1.1
    elif isinstance(parent, ast.Tuple):
        cost = 1.3
    else:
        return
    for step in (" + 1", " - 1"):
        yield site.put_whole(
            node, site.text(node) + step, "one %s" % ("more" if "+" in step else "less"), cost
        )


def constant(site: Site) -> Iterator[Proposal]:
    """A literal near the one that stands there, or another one from the same function."""
    node = site.node
    if not isinstance(node, ast.Constant) or isinstance(site.parent, (ast.Expr, ast.JoinedStr)):
        return
    value: object = node.value
    if value is True or value is False:
        yield site.put(node, repr(not value), "`%s`" % (not value), 1.0)
        yield site.put(node, "None", "`None`", 2.0)
    elif value is None:
        for rank, text in enumerate(("0", "[]", '""', "False", "True", "1", "{}")):
            yield site.put(node, text, "`%s` for `None`" % text, 1.6 + 0.05 * rank)
    elif isinstance(value, (int, float)):
        yield from _numbers(site, node, value)
    elif isinstance(value, str):
        yield from _strings(site, node, value)


def _numbers(site: Site, node: ast.Constant, value: float) -> Iterator[Proposal]:
    near: List[str] = [repr(value + 1), repr(value - 1)]
    zero = 0.0 if isinstance(value, float) else 0
    near += [repr(zero), repr(zero + 1), repr(-value), repr(zero + 2)]
    own = repr(value)
    step = isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, (ast.Add, ast.Sub))
    # Where two values are compared, another operator is the plainer change.
    beside = 0.04 if isinstance(site.parent, ast.Compare) else 0.0
    signed = isinstance(site.parent, ast.UnaryOp)
    for rank, text in enumerate(dict.fromkeys(near)):
        if text != own and not (signed and text.startswith("-")):
            # Adding nothing is better said by leaving the operand out.
            extra = 0.3 if step and text in ("0", "0.0") else beside
            yield site.put(node, text, "`%s` for `%s`" % (text, own), 1.0 + extra + 0.03 * rank)
    far = [text for text in site.material.numbers if text not in near and text != own]
    far += [repr(value + 2), repr(value - 2), "10", "3", "-1"]
    if isinstance(value, int):
        far += [repr(value * 2), repr(value * 10), 'float("inf")', '-float("inf")']
    else:
        far += [repr(value / 2), repr(value * 2), repr(value * 10), repr(value / 10)]
    for rank, text in enumerate(dict.fromkeys(far)):
        if text != own and text not in near and not (signed and text.startswith("-")):
            yield site.put(node, text, "`%s` for `%s`" % (text, own), 1.6 + 0.04 * rank)


def _strings(site: Site, node: ast.Constant, value: str) -> Iterator[Proposal]:
    segment = site.source.segment(node)
    if segment[-3:] in ('"""', "'''") or len(value) > 60 or segment[:1] not in "\"'":
        return
    quote = segment[-1]
    others = [quote + quote, quote + " " + quote] + site.material.strings
    if value in site.scope.variables:
        yield site.put(node, value, "the variable `%s`" % value, 1.0)
        yield site.put(node, value + ".encode()", "the variable `%s` encoded" % value, 1.8)
    for rank, text in enumerate(dict.fromkeys(others)):
        if text != segment:
            yield site.put(node, text, "%s for %s" % (text, segment), 1.1 + 0.04 * rank)
    for changed in (
        value.lower(),
        value.upper(),
        value.strip(),
        value + " ",
        " " + value,
        value + "\\n",
    ):
        if changed != value and "\\" not in value and quote not in value:
            yield site.put(node, quote + changed + quote, "change the text", 1.9)
    if 1 < len(value) <= 26 and "\\" not in segment:
        for index in range(len(value)):
            rest = quote + value[:index] + value[index + 1 :] + quote
            yield site.put(node, rest, "leave a character out", 2.2)
