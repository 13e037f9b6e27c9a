"""Branches that are missing from a chain of conditions, or one too many."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List

from ..candidate import Proposal
from .comparisons import integer
from .lines import STEP, block, body_of, joined, last_line
from .literals import named_literals
from .site import Site
from .steps import steps


def left_out(site: Site) -> Iterator[Proposal]:
    """One branch of a chain left out, or the only statement of a block."""
    node = site.node
    if not isinstance(node, ast.If) or not site.source.starts_line(node):
        return
    source = site.source
    start = source.span(node)[0]
    size = last_line(node.body[-1]) - node.lineno + 1
    cost = 1.5 + 0.1 * min(size, 8)
    inner = node.orelse[0] if node.orelse else None
    if source.text.startswith("elif", start):
        at, end = source.line_start(node.lineno), source.line_start(last_line(node.body[-1]) + 1)
        yield site.between(at, min(end, len(source.text)), "", "leave the branch out", cost)
    elif inner is not None and source.text.startswith("elif", source.span(inner)[0]):
        kind = "leave the first branch out"
        yield site.between(start, source.span(inner)[0] + 2, "", kind, cost)
    elif inner is None and len(body_of(source, node)) == 1:
        yield site.between(start, source.span(node)[1], "pass", "do nothing here", cost + 0.1)
    if inner is not None and source.starts_line(inner):
        line = inner.lineno - 1
        if source.line_text(line).strip() == "else:":
            at, end = source.line_start(line), source.line_start(last_line(node.orelse[-1]) + 1)
            size = last_line(node.orelse[-1]) - line + 1
            cost = 1.5 + 0.1 * min(size, 8)
            yield site.between(at, min(end, len(source.text)), "", "leave `else` out", cost)


def split(site: Site) -> Iterator[Proposal]:
    """An `else:` before one of the statements of a branch that has none."""
    node = site.node
    if not isinstance(node, ast.If) or node.orelse or len(node.body) < 2:
        return
    indent = site.source.indent_of(node)
    for statement in node.body[1:]:
        if not site.source.starts_line(node) or not site.source.starts_line(statement):
            return
        at = site.source.line_start(statement.lineno)
        yield site.between(at, at, joined(site.source, indent, ["else:"]), "`else` from here", 1.8)


def else_branch(site: Site) -> Iterator[Proposal]:
    """An `else` for a chain of conditions that has none."""
    node = site.node
    if not isinstance(node, ast.If) or node.orelse:
        return
    place = block(site.source, node)
    if place is None or not site.source.text[: place[1]].endswith("\n"):
        return
    indent = site.source.indent_of(node)
    for rank, line in enumerate(_instead(site, node)):
        text = joined(site.source, indent, ["else:", STEP + line])
        kind = "else `%s`" % line
        yield site.between(place[1], place[1], text, kind, 2.1 + 0.015 * min(rank, 80))


def _instead(site: Site, node: ast.If) -> List[str]:
    """What the other case may do: what the branch does with another value, then other steps."""
    found: Dict[str, None] = {}
    last = node.body[-1]
    if len(node.body) == 1 or isinstance(last, ast.Return):
        for part in ast.walk(last):
            if isinstance(part, ast.expr) and _is_whole_value(last, part):
                for other in site.scope.variables[:8] + ["0", "1", "None", "[]", "''"]:
                    found[_with(site, last, part, other)] = None
                for literal in named_literals(site):
                    found[_with(site, last, part, repr(literal))] = None
    for line in steps(site):
        if not line.startswith(("break", "continue")):
            found[line] = None
        if len(found) > 150:
            break
    return [line for line in found if "\n" not in line]


def _is_whole_value(statement: ast.stmt, part: ast.expr) -> bool:
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr):
        return isinstance(value, ast.Call) and part in value.args
    return value is part


def _with(site: Site, statement: ast.stmt, part: ast.expr, text: str) -> str:
    start, end = site.source.span(statement)
    low, high = site.source.outer_span(part)
    return site.source.text[start:low] + text + site.source.text[high:end]


def further_branch(site: Site) -> Iterator[Proposal]:
    """A branch like one that is there, with another number in its condition and another result.

    Numbers and results are those that the docstring names or the function has.
    """
    node = site.node
    if not isinstance(node, ast.If) or len(node.body) != 1 or not site.source.starts_line(node):
        return
    number = next((part for part in ast.walk(node.test) if integer(part) is not None), None)
    body = node.body[0]
    value = next((p for p in ast.walk(body) if isinstance(p, ast.Constant)), None)
    if not isinstance(number, ast.Constant) or value is None or not site.source.starts_line(body):
        return
    known = named_literals(site)
    numbers = [str(n) for n in known if not isinstance(n, str) and n >= 0]
    numbers = [n for n in dict.fromkeys(numbers) if n not in site.material.numbers]
    results = [repr(n) for n in known if isinstance(n, str) == isinstance(value.value, str)]
    results = [n for n in dict.fromkeys(results) if n != site.source.segment(value)]
    start, low = site.source.span(node.test)[0], site.source.span(number)
    end = site.source.span(node.test)[1]
    head, tail = site.source.text[start : low[0]], site.source.text[low[1] : end]
    at = min(site.source.line_start(last_line(body) + 1), len(site.source.text))
    indent = site.source.indent_of(node)
    if not site.source.text[:at].endswith("\n"):
        return
    pairs = [(n, r) for n in numbers[:10] for r in results[:10]]
    for rank, (other, result) in enumerate(pairs):
        test = head + other + tail
        lines = ["elif %s:" % test, STEP + _with(site, body, value, result)]
        text = joined(site.source, indent, lines)
        yield site.between(at, at, text, "also if `%s`" % test, 2.4 + 0.01 * rank)
