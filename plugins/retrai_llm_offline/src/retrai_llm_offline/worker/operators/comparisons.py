"""Comparisons and truth: which way, how far, and, or, not."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, Optional, Tuple

from ..candidate import Proposal
from ..source import SourceFile
from .site import Site

SYMBOLS: Dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
PREDICATES = ("isalpha", "isdigit", "isupper", "islower", "isalnum", "isspace")
_NEAREST = {
    "<": ["<=", ">", ">=", "==", "!="],
    "<=": ["<", ">=", ">", "==", "!="],
    ">": [">=", "<", "<=", "==", "!="],
    ">=": [">", "<=", "<", "==", "!="],
    "==": ["!=", "<=", ">=", "<", ">", "in"],
    "!=": ["==", "<", ">", "<=", ">=", "not in"],
    "is": ["is not", "=="],
    "is not": ["is", "!="],
    "in": ["not in", "=="],
    "not in": ["in", "!="],
}


def comparison(site: Site) -> Iterator[Proposal]:
    """Another comparison operator, the two sides exchanged, either side one off."""
    node = site.node
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left] + node.comparators
    for index, operator in enumerate(node.ops):
        left, right = operands[index], operands[index + 1]
        start = site.source.outer_span(left)[1]
        end = site.source.outer_span(right)[0]
        symbol = SYMBOLS[type(operator)]
        for rank, other in enumerate(_NEAREST[symbol]):
            text = " " + other + " "
            yield site.between(start, end, text, "compare with `%s`" % other, 1.0 + 0.01 * rank)
            yield from _moved_bound(site, right, start, other)
            yield from _moved_number(site, left, other, end)
        if symbol not in ("==", "!=", "is", "is not"):
            yield from _exchanged(site, left, right, symbol)
        if symbol in ("<", "<=", ">", ">=", "==", "!="):
            for side in (right, left):
                if not isinstance(side, ast.Constant):
                    for step in (" + 1", " - 1"):
                        yield site.put_whole(
                            side, site.text(side) + step, "move the bound by one", 1.4
                        )
    if len(node.ops) > 1:
        first_end = site.source.outer_span(operands[1])[1]
        start, end = site.source.span(node)
        yield site.between(first_end, end, "", "drop the second comparison", 1.6)
        second = site.source.outer_span(operands[1])[0]
        yield site.between(start, second, "", "drop the first comparison", 1.6)


def _moved_number(site: Site, left: ast.expr, other: str, end: int) -> Iterator[Proposal]:
    """Another operator, and another number in an operation on the left of it."""
    if not isinstance(left, ast.BinOp):
        return
    number = integer(left.right)
    if number is None:
        return
    start, stop = site.source.outer_span(left.right)
    rest = site.source.text[stop : site.source.outer_span(left)[1]]
    for rank, value in _other_integers(site, number):
        text = "%s%s %s " % (value, rest, other)
        kind = "`%s`, and compare with `%s`" % (value, other)
        yield site.between(start, end, text, kind, 2.3 + 0.05 * rank)


def _moved_bound(site: Site, right: ast.expr, start: int, other: str) -> Iterator[Proposal]:
    """Another operator, and another number on the right of it."""
    number = integer(right)
    if number is None:
        return
    end = site.source.outer_span(right)[1]
    for rank, value in _other_integers(site, number):
        text = "%s %s" % (other, value)
        yield site.between(start, end, " " + text, "compare with `%s`" % text, 2.2 + 0.05 * rank)


def _other_integers(site: Site, number: int) -> Iterator[Tuple[int, str]]:
    """Integers to take for one, ranked: those beside it, then those of the function."""
    near = [str(number + 1), str(number - 1)] + [n for n in site.material.numbers if "." not in n]
    return ((rank, n) for rank, n in enumerate(dict.fromkeys(near)) if n != str(number))


def _exchanged(site: Site, left: ast.expr, right: ast.expr, symbol: str) -> Iterator[Proposal]:
    start, end = site.source.outer_span(left)[0], site.source.outer_span(right)[1]
    text = "%s %s %s" % (site.text(right), symbol, site.text(left))
    yield site.between(start, end, text, "exchange the sides of `%s`" % symbol, 1.1)


def integer(node: ast.AST) -> "int | None":
    """The value of an integer literal, with its sign, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int)
        and not isinstance(node.value, bool)
    ):
        return node.value
    return None


def boolean(site: Site) -> Iterator[Proposal]:
    """`and` for `or`, a part left out or negated, `not` dropped."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield site.put_whole(node, site.text(node.operand), "drop `not`", 1.0)
    if not isinstance(node, ast.BoolOp):
        return
    word = " or " if isinstance(node.op, ast.And) else " and "
    spans = [site.source.outer_span(value) for value in node.values]
    for before, after in zip(spans, spans[1:]):
        yield site.between(
            before[1], after[0], word, "`%s` between the conditions" % word.strip(), 1.0
        )
    for index, value in enumerate(node.values):
        if index == 0:
            yield site.between(spans[0][0], spans[1][0], "", "drop a condition", 1.3)
        else:
            yield site.between(spans[index - 1][1], spans[index][1], "", "drop a condition", 1.3)
        yield site.put_whole(value, negated(site.source, value), "negate a condition", 1.2)


def negated(source: SourceFile, node: ast.expr) -> str:
    """The opposite of a condition, as text."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return source.outer_segment(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = {
            "<": ">=",
            "<=": ">",
            ">": "<=",
            ">=": "<",
            "==": "!=",
            "!=": "==",
            "is": "is not",
        }
        opposite.update({"is not": "is", "in": "not in", "not in": "in"})
        symbol = opposite[SYMBOLS[type(node.ops[0])]]
        return "%s %s %s" % (
            source.outer_segment(node.left),
            symbol,
            source.outer_segment(node.comparators[0]),
        )
    text = source.segment(node)
    if isinstance(node, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)):
        return "not (" + text + ")"
    return "not " + text


def test_expression(node: ast.AST, parent: "ast.AST | None") -> bool:
    """Whether a node decides a branch, a loop or a filter."""
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return parent.test is node
    return isinstance(parent, ast.comprehension) and node in parent.ifs


def condition(site: Site) -> Iterator[Proposal]:
    """A branch's condition: negated, or with one more condition beside it."""
    node, parent = site.node, site.parent
    if not isinstance(node, ast.expr):
        return
    if test_expression(node, parent) or (
        isinstance(parent, ast.Return) and isinstance(node, ast.Compare)
    ):
        if not isinstance(node, ast.BoolOp):
            yield site.put_whole(node, negated(site.source, node), "negate the condition", 1.2)
        else:
            yield site.put_whole(
                node, "not (%s)" % site.source.segment(node), "negate the condition", 1.5
            )
    if isinstance(parent, ast.Return) and isinstance(node, (ast.Call, ast.Name, ast.BoolOp)):
        yield site.put(node, negated(site.source, node), "return the opposite", 1.6)


def _condition_at(site: Site) -> Optional[ast.expr]:
    """The condition at a place, one that is tested or returned; None where there is none."""
    node = site.node
    if not isinstance(node, ast.expr):
        return None
    answers = isinstance(site.parent, ast.Return) and isinstance(node, (ast.Compare, ast.BoolOp))
    return node if answers or test_expression(node, site.parent) else None


def added_condition(site: Site) -> Iterator[Proposal]:
    """One more condition joined by `and` or `or`."""
    node = _condition_at(site)
    if node is None:
        return
    own = site.text(node)
    for rank, extra in enumerate(conditions(site, node)):
        for word in ("and", "or"):
            loose = isinstance(node, (ast.IfExp, ast.Lambda)) or (
                word == "and" and isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
            )
            text = "%s %s %s" % ("(" + own + ")" if loose else own, word, extra)
            yield site.put_whole(
                node, text, "add `%s %s`" % (word, extra), 2.3 + min(rank, 60) * 0.01
            )


def guarding_condition(site: Site) -> Iterator[Proposal]:
    """A condition before the one that is there, so that it is asked only where it can be."""
    node = _condition_at(site)
    if node is None:
        return
    used = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    names = [name for name in site.scope.variables if name in used]
    own = site.text(node)
    alternative = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
    second = "(" + own + ")" if alternative or isinstance(node, ast.IfExp) else own
    forms = [("%s and " % name, second) for name in names]
    forms += [("not %s or " % name, own) for name in names]
    for first in names:
        forms += [("%s < len(%s) and " % (first, n), second) for n in names if n != first]
        forms += [("%s >= 0 and " % first, second), ("%s > 0 and " % first, second)]
    for rank, (lead, rest) in enumerate(forms):
        text = lead + rest
        yield site.put_whole(node, text, "first ask `%s`" % lead.strip(), 2.1 + 0.01 * rank)


def conditions(site: Site, near: ast.AST) -> Iterator[str]:
    """Conditions over the names in scope: first those that the code near a place uses."""
    here = [n.id for n in ast.walk(near) if isinstance(n, ast.Name)]
    names = [name for name in site.scope.variables if name in here]
    names += [name for name in site.scope.variables if name not in here]
    names = names[:7]
    yield from site.material.conditions
    for name in names:
        yield name
        yield "not " + name
        for number in ["0", "1"] + [n for n in site.material.numbers if n not in ("0", "1")][:4]:
            for symbol in ("==", ">", "<", "!=", ">=", "<="):
                yield "%s %s %s" % (name, symbol, number)
        yield name + " is None"
        yield name + " is not None"
        for number in ("0", "1", "2"):
            yield "len(%s) == %s" % (name, number)
        yield name + " % 2 == 0"
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            for symbol in ("==", "<", ">", "!=", "<=", ">="):
                yield "%s %s %s" % (first, symbol, second)
            yield "%s in %s" % (first, second)
            yield "%s in %s" % (second, first)
            yield "%s not in %s" % (first, second)
            yield "%s not in %s" % (second, first)
    yield from _more_conditions(site, names)


def _more_conditions(site: Site, names: List[str]) -> Iterator[str]:
    """Conditions over expressions that the function has, and what a character is."""
    usual = (ast.BinOp, ast.Subscript, ast.Call)
    known = [text for text, node in site.material.expressions if isinstance(node, usual)]
    short = [text for text in known if len(text) <= 24][:10]
    values = names[:4] + short + ["0", "1"] + site.material.strings[:4]
    for first in names[:4] + short:
        for symbol in ("!=", "==", "<", ">"):
            for other in values:
                if other != first and (first in short or other in short):
                    yield "%s %s %s" % (first, symbol, other)
    for name in names[:3]:
        for predicate in PREDICATES:
            yield "%s.%s()" % (name, predicate)
