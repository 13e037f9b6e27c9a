"""Shapes of values: slices, indices, literals, and the built-ins wrapped around an expression."""

from __future__ import annotations

import ast
from typing import Iterator, List, Sequence

from ..candidate import Proposal
from .comparisons import integer
from .site import Site, is_read


def subscript(site: Site) -> Iterator[Proposal]:
    """Another bound or step of a slice, another end of a sequence, indices exchanged."""
    node = site.node
    if not isinstance(node, ast.Subscript):
        return
    index: ast.AST = node.slice
    if isinstance(index, ast.Slice):
        yield from _slice(site, node, index)
        return
    whole = site.source.span(node)
    value = site.source.outer_span(node.value)
    inside = site.source.text[value[1] : whole[1]]
    content = inside.strip()[1:-1]
    if isinstance(node.ctx, ast.Load):
        forms = [
            "[%s:]",
            "[:%s]",
            "[-%s]",
            "[:%s + 1]",
            "[%s + 1:]",
            "[len(" + site.text(node.value) + ") - %s - 1]",
        ]
        for rank, form in enumerate(forms):
            yield site.between(
                value[1], whole[1], form % content, "`%s`" % (form % content), 1.5 + 0.04 * rank
            )
        yield site.put(node, site.text(node.value), "without the index", 1.8)
        if integer(index) is not None:
            for other in ("[0]", "[-1]", "[1]"):
                if other != inside:
                    yield site.between(value[1], whole[1], other, "the element `%s`" % other, 1.2)
    inner = node.value
    if isinstance(inner, ast.Subscript) and not isinstance(inner.slice, ast.Slice):
        inner_value = site.source.outer_span(inner.value)[1]
        first = site.source.text[inner_value : site.source.span(inner)[1]]
        yield site.between(inner_value, whole[1], inside + first, "exchange the indices", 1.3)


def _slice(site: Site, node: ast.Subscript, index: ast.Slice) -> Iterator[Proposal]:
    start, end = site.source.outer_span(node.value)[1], site.source.span(node)[1]
    parts = [
        site.source.outer_segment(p) if p is not None else ""
        for p in (index.lower, index.upper, index.step)
    ]
    lower, upper, step = parts
    choices: List[Sequence[str]] = []
    for name in site.scope.variables[:8]:
        choices += [(name, upper, step), (lower, name, step)]
    choices += [
        ("", upper, step),
        (lower, "", step),
        ("1", upper, step),
        (lower, "-1", step),
        (upper, lower, step),
    ]
    if upper:
        choices += [
            (lower, upper + " + 1", step),
            (lower, upper + " - 1", step),
            (lower, "-" + upper, step),
        ]
        if lower:
            choices += [(lower, lower + " + " + upper, step)]
    if lower:
        choices += [
            (lower + " + 1", upper, step),
            (lower + " - 1", upper, step),
            ("-" + lower, upper, step),
        ]
    choices += [(lower, upper, "2"), (lower, upper, "-1"), (lower, upper, "")]
    seen = {(lower, upper, step)}
    for rank, choice in enumerate(choices):
        key = (choice[0], choice[1], choice[2])
        if key in seen:
            continue
        seen.add(key)
        text = "[%s:%s%s]" % (key[0], key[1], ":" + key[2] if key[2] else "")
        yield site.between(start, end, text, "the slice `%s`" % text, 1.1 + 0.02 * rank)


def literal(site: Site) -> Iterator[Proposal]:
    """An element of a literal left out, two neighbours exchanged, a branch exchanged."""
    node = site.node
    if isinstance(node, ast.IfExp):
        body, other = site.source.outer_span(node.body), site.source.outer_span(node.orelse)
        edits = ((*body, site.text(node.orelse)), (*other, site.text(node.body)))
        yield Proposal(edits, "exchange the two values", 1.1)
        yield site.put(node, site.text(node.body), "always the first value", 1.6)
        yield site.put(node, site.text(node.orelse), "always the second value", 1.6)
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)) or not is_read(node):
        return
    spans = [site.source.outer_span(element) for element in node.elts]
    if 1 < len(spans) <= 30:
        for index in range(len(spans)):
            if index == 0:
                yield site.between(spans[0][0], spans[1][0], "", "leave out an element", 1.5)
            else:
                yield site.between(
                    spans[index - 1][1], spans[index][1], "", "leave out an element", 1.5
                )
        for first, second in zip(range(len(spans)), range(1, len(spans))):
            edits = (
                (*spans[first], site.text(node.elts[second])),
                (*spans[second], site.text(node.elts[first])),
            )
            yield Proposal(edits, "exchange two elements", 1.4)
    if isinstance(node, ast.List) and not node.elts:
        for text in ["[[]]", "[0]", "[1]", "{}", "set()"] + [
            "[%s]" % name for name in site.scope.variables[:5]
        ]:
            yield site.put(node, text, "start with `%s`" % text, 1.9)


_WRAPS = (
    "abs(%s)",
    "set(%s)",
    "sorted(%s)",
    "len(%s)",
    "list(%s)",
    "str(%s)",
    "int(%s)",
    "sum(%s)",
    "max(%s)",
    "min(%s)",
    "reversed(%s)",
    "round(%s)",
    "float(%s)",
    "tuple(%s)",
    "sorted(set(%s))",
    "round(%s, 2)",
    "round(%s, 1)",
)
_BOUNDED = (ast.Return, ast.Assign, ast.AugAssign, ast.Call, ast.Subscript, ast.Slice, ast.BinOp)
_BOTH = _WRAPS[:8] + ("%s.lower()", "%s.upper()", "%s.strip()", "%s[0]", "%s[1]")
_TAILS = tuple(
    "[1:] [:-1] [::-1] [0] [-1] .lower() .upper() .strip() .copy() .split() .encode() .items() "
    ".values() .keys() [:] [1] .decode()".split()
)


def wrapped(site: Site) -> Iterator[Proposal]:
    """A built-in, a slice, an index or a method around a value."""
    node, parent = site.node, site.parent
    kinds = (ast.Name, ast.Call, ast.Subscript, ast.BinOp, ast.Attribute, ast.ListComp, ast.List)
    if not isinstance(node, kinds) or not is_read(node):
        return
    if isinstance(parent, (ast.Attribute, ast.Expr)):
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    text = site.text(node)
    for rank, form in enumerate(_WRAPS):
        if not text.startswith(form[: form.index("%s")]):
            kind = "`%s` around it" % form.replace("%s", "...")
            yield site.put_whole(node, form % text, kind, 1.4 + 0.04 * rank)
    yield from _tails(site, node)
    if isinstance(
        parent,
        (ast.Return, ast.Assign, ast.AugAssign, ast.Call, ast.Subscript, ast.Slice, ast.BinOp),
    ):
        targets = [site.text(t) for t in getattr(parent, "targets", ()) if isinstance(t, ast.Name)]
        others = targets + ["0", "1"] + site.scope.variables[:6]
        for rank, other in enumerate(dict.fromkeys(others)):
            for name in ("max", "min") if other != text else ():
                form = "%s(%s, %s)" % (name, text, other)
                yield site.put_whole(node, form, "`%s`" % form, 2.0 + 0.04 * rank)


def _tails(site: Site, node: ast.expr) -> Iterator[Proposal]:
    if isinstance(node, ast.List):
        return
    text = site.text(node)
    if isinstance(node, ast.BinOp) and not text.startswith("("):
        text = "(" + text + ")"
    yield site.put_whole(node, "-" + text, "turn the sign", 1.5)
    for rank, form in enumerate(_TAILS):
        yield site.put_whole(node, text + form, "`...%s`" % form, 1.5 + 0.04 * rank)
    if isinstance(node, (ast.BinOp, ast.ListComp)):
        return
    for rank, name in enumerate(site.scope.variables[:7]):
        for form in ("[:%s]", "[%s:]", "[%s]") if name != text else ():
            tail = form % name
            yield site.put_whole(node, text + tail, "`...%s`" % tail, 1.7 + 0.03 * rank)


def both_sides(site: Site) -> Iterator[Proposal]:
    """The same built-in around both sides of a comparison or an operation."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
    elif isinstance(node, ast.BinOp):
        left, right = node.left, node.right
    else:
        return
    for rank, form in enumerate(_BOTH):
        edits = (
            (*site.source.outer_span(left), form % site.text(left)),
            (*site.source.outer_span(right), form % site.text(right)),
        )
        yield Proposal(
            edits, "`%s` around both sides" % form.replace("%s", "..."), 1.7 + 0.05 * rank
        )


def ingredient(site: Site) -> Iterator[Proposal]:
    """Another expression of the same function in the place of one."""
    node, parent = site.node, site.parent
    if not isinstance(
        node,
        (ast.Name, ast.Call, ast.Subscript, ast.BinOp, ast.Attribute, ast.Constant, ast.UnaryOp),
    ):
        return
    if not is_read(node) or isinstance(parent, (ast.Attribute, ast.Expr)):
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    own = site.source.segment(node)
    if not isinstance(node, (ast.Name, ast.Constant)):
        for rank, name in enumerate(site.scope.variables[:10]):
            yield site.put(node, name, "`%s` for `%s`" % (name, own), 1.7 + 0.03 * rank)
    for rank, (text, other) in enumerate(site.material.expressions[:24]):
        if text == own or (own in text and isinstance(node, ast.Constant)):
            continue
        same = type(other) is type(node)
        yield site.put(
            node, text, "`%s` for `%s`" % (text, own), (1.7 if same else 2.0) + 0.01 * rank
        )


def target(site: Site) -> Iterator[Proposal]:
    """Another element or attribute that is assigned to."""
    node = site.node
    if not isinstance(node, (ast.Subscript, ast.Attribute)) or not isinstance(node.ctx, ast.Store):
        return
    own = site.source.segment(node)
    for rank, (text, other) in enumerate(site.material.expressions[:24]):
        if text != own and isinstance(other, (ast.Subscript, ast.Attribute)):
            yield site.put(node, text, "assign to `%s`" % text, 1.7 + 0.02 * rank)


def joined_with(site: Site) -> Iterator[Proposal]:
    """A variable added before or after the value that is returned or assigned."""
    node, parent = site.node, site.parent
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Compare, ast.BoolOp)):
        return
    if not isinstance(parent, (ast.Return, ast.Assign, ast.AugAssign)):
        return
    if parent.value is not node:
        return
    own = site.text(node)
    for rank, name in enumerate(site.scope.variables[:8]):
        for form in ("%s + %s" % (name, own), "%s + %s" % (own, name)):
            yield site.put_whole(node, form, "`%s` too" % name, 1.9 + 0.03 * rank)
