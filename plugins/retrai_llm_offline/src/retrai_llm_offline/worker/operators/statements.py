"""Statements changed in place: assignments, returns, moves in and out of loops, removals."""

from __future__ import annotations

import ast
from typing import Iterator

from ..candidate import Proposal
from .lines import block, body_of, is_docstring, last_line, loop_around, shifted
from .site import Site

_AUGMENTED = ["+=", "-=", "*=", "//=", "/=", "%=", "**=", "|=", "&=", "^="]


def assignment(site: Site) -> Iterator[Proposal]:
    """`=` for `+=` and the like, another augmented operator, tuple parts exchanged."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        start, end = site.source.span(node.target)[1], site.source.outer_span(node.value)[0]
        current = site.source.text[start:end].strip()
        nearest = {
            "+=": ["-=", "*=", "="],
            "-=": ["+=", "//=", "=", ">>="],
            "*=": ["+=", "**=", "="],
            "^=": ["&=", "|=", "="],
            "&=": ["|=", "^=", "="],
            "|=": ["&=", "^=", "="],
            "<<=": [">>=", "="],
            ">>=": ["<<=", "="],
        }
        first = nearest.get(current, ["="])
        for rank, symbol in enumerate(first + [s for s in _AUGMENTED[:6] if s not in first]):
            if symbol != current:
                yield site.between(
                    start,
                    end,
                    " " + symbol + " ",
                    "`%s` for `%s`" % (symbol, current),
                    1.0 + 0.05 * rank,
                )
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        start, end = site.source.outer_span(target)[1], site.source.outer_span(value)[0]
        if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
            for rank, symbol in enumerate(("+=", "-=", "*=", "|=")):
                yield site.between(
                    start, end, " " + symbol + " ", "`%s` for `=`" % symbol, 1.5 + 0.05 * rank
                )
            whole = site.source.outer_span(value)
            name = site.source.segment(target)
            for symbol in ("+", "-", "*"):
                text = "%s %s %s" % (name, symbol, site.text(value))
                yield site.between(whole[0], whole[1], text, "keep what `%s` had" % name, 1.8)
        if isinstance(target, ast.Name) and isinstance(value, ast.Name):
            edits = (
                (*site.source.outer_span(target), value.id),
                (*site.source.outer_span(value), target.id),
            )
            yield Proposal(edits, "assign the other way round", 1.2)
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            first, second = value.elts
            edits = (
                (*site.source.outer_span(first), site.text(second)),
                (*site.source.outer_span(second), site.text(first)),
            )
            yield Proposal(edits, "exchange the assigned values", 1.2)


def returned(site: Site) -> Iterator[Proposal]:
    """Another value returned."""
    node = site.node
    if not isinstance(node, ast.Return):
        return
    choices = ["True", "False", "None", "0", "1", "-1", "[]", '""', "0.0"]
    if node.value is None:
        end = site.source.span(node)[1]
        for rank, text in enumerate(site.scope.variables[:8] + choices):
            yield site.between(end, end, " " + text, "return `%s`" % text, 1.3 + 0.04 * rank)
        return
    own = site.source.segment(node.value)
    start, end = site.source.outer_span(node.value)
    for rank, text in enumerate(choices):
        if text != own:
            yield site.between(start, end, text, "return `%s`" % text, 1.7 + 0.05 * rank)


def dropped(site: Site) -> Iterator[Proposal]:
    """`return` before an expression whose value goes nowhere."""
    node = site.node
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return
    if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
        return
    function = site.scope.innermost
    if function is None or isinstance(function, ast.Lambda) or _yields(function):
        return
    start = site.source.outer_span(node.value)[0]
    used_for_effect = isinstance(node.value, (ast.Call, ast.Await))
    cost = 0.9 if not used_for_effect else 1.1
    if not _ends_function(site, node):
        cost += 0.4
    yield site.between(start, start, "return ", "return what was computed and dropped", cost)


def _ends_function(site: Site, node: ast.stmt) -> bool:
    """Whether nothing of the function runs after a statement."""
    current: ast.AST = node
    while isinstance(current, ast.stmt) and not isinstance(
        current, (ast.FunctionDef, ast.AsyncFunctionDef)
    ):
        siblings = body_of(site.source, current)
        if siblings and siblings[-1] is not current:
            return False
        current = site.source.parents.get(current, site.source.tree)
        if isinstance(current, (ast.For, ast.AsyncFor, ast.While, ast.ClassDef)):
            return False
    return True


def _yields(function: ast.AST) -> bool:
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False


def removal(site: Site) -> Iterator[Proposal]:
    """A statement left out, a branch always taken, `break` and `continue` exchanged."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(
        node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    ):
        return
    span = site.source.span(node)
    if isinstance(node, (ast.Break, ast.Continue)):
        other = "continue" if isinstance(node, ast.Break) else "break"
        yield site.between(span[0], span[1], other, "`%s`" % other, 1.1)
    if isinstance(node, ast.Pass) or is_docstring(node):
        return
    siblings = body_of(site.source, node)
    place = block(site.source, node)
    size = last_line(node) - node.lineno + 1
    cost = 1.5 + 0.1 * min(size, 8)
    if len(siblings) > 1 and place is not None:
        yield site.between(place[0], place[1], "", "leave the statement out", cost)
    elif not isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        yield site.between(span[0], span[1], "pass", "do nothing here", cost + 0.1)
    if isinstance(node, ast.If) and place is not None and not node.orelse:
        yield from _unwrapped(site, node)


def _unwrapped(site: Site, node: ast.If) -> Iterator[Proposal]:
    place = block(site.source, node)
    first = node.body[0]
    if place is None or not site.source.starts_line(first):
        return
    start = site.source.line_start(first.lineno)
    text = shifted(
        site.source.text[start : place[1]],
        site.source.indent_of(first),
        site.source.indent_of(node),
    )
    if text is not None:
        yield site.between(place[0], place[1], text, "always do what the branch does", 1.9)


def branches(site: Site) -> Iterator[Proposal]:
    """`elif` for `if` and the other way round, `else` for a last `elif`, an `else` made plain."""
    node = site.node
    if not isinstance(node, ast.If):
        return
    start = site.source.span(node)[0]
    word = "elif" if site.source.text.startswith("elif", start) else "if"
    test_end = site.source.outer_span(node.test)[1]
    if word == "elif":
        yield site.between(start, start + 4, "if", "`if` for `elif`", 1.4)
        if not node.orelse:
            yield site.between(start, test_end, "else", "`else` for `elif`", 1.6)
    else:
        siblings = body_of(site.source, node)
        index = siblings.index(node) if node in siblings else 0
        if index > 0 and isinstance(siblings[index - 1], ast.If):
            yield site.between(start, start, "el", "`elif` for `if`", 1.4)
        yield site.between(start, start + 2, "while", "`while` for `if`", 1.6)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        inner = node.orelse[0]
        first = site.source.outer_span(node.test)
        second = site.source.outer_span(inner.test)
        edits = ((*first, site.text(inner.test)), (*second, site.text(node.test)))
        yield Proposal(edits, "exchange the conditions of two branches", 1.6)
    if node.orelse and loop_around(site.source, node) is None:
        first_else = node.orelse[0]
        line = first_else.lineno - 1
        text = site.source.line_text(line)
        if text.strip() == "else:" and site.source.starts_line(first_else):
            at = site.source.line_start(line)
            end = site.source.line_start(last_line(node.orelse[-1]) + 1)
            body = site.source.text[site.source.line_start(first_else.lineno) : end]
            plain = shifted(body, site.source.indent_of(first_else), site.source.indent_of(node))
            if plain is not None:
                yield site.between(
                    at, min(end, len(site.source.text)), plain, "always do what `else` does", 1.8
                )


def yielding(site: Site) -> Iterator[Proposal]:
    """`yield from` for `yield` and the other way round; a loop over something else."""
    node = site.node
    if isinstance(node, ast.Yield) and node.value is not None:
        start = site.source.span(node)[0]
        yield site.between(start, start + 5, "yield from", "`yield from`", 1.2)
    elif isinstance(node, ast.YieldFrom):
        start, value = site.source.span(node)[0], site.source.outer_span(node.value)[0]
        yield site.between(start, value, "yield ", "`yield`", 1.2)
    elif isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        start, end = site.source.outer_span(node.test)
        yield site.between(start - 6, end, "while True", "loop until something leaves it", 1.8)
        start = site.source.span(node)[0]
        yield site.between(start, start + 5, "if", "`if` for `while`", 1.7)
    elif isinstance(node, ast.While):
        start, end = site.source.outer_span(node.test)
        for rank, name in enumerate(site.scope.variables[:8]):
            yield site.between(start, end, name, "loop while `%s`" % name, 1.5 + 0.03 * rank)
