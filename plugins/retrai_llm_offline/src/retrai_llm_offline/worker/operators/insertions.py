"""Statements inserted from templates: guards, early returns, updates of what is accumulated."""

from __future__ import annotations

import ast
from typing import Iterator, List

from ..candidate import Proposal
from .comparisons import conditions
from .lines import after, before, block, body_of, joined, loop_around, shifted
from .site import Site


def _in_function(site: Site) -> bool:
    return site.scope.innermost is not None and not isinstance(site.scope.innermost, ast.Lambda)


def guarded(site: Site) -> Iterator[Proposal]:
    """A simple statement made conditional."""
    node = site.node
    if not isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)) or not _in_function(
        site
    ):
        return
    place = block(site.source, node)
    if place is None or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    indent = site.source.indent_of(node)
    text = site.source.text[place[0] : place[1]]
    inner = shifted(text, indent, indent + "    ")
    if inner is None:
        return
    for rank, test in enumerate(conditions(site, node)):
        head = joined(site.source, indent, ["if %s:" % test])
        yield site.between(
            place[0], place[1], head + inner, "only if `%s`" % test, 2.2 + 0.012 * min(rank, 80)
        )


def early_exit(site: Site) -> Iterator[Proposal]:
    """A check before a statement that returns, skips or leaves."""
    node = site.node
    if not isinstance(node, ast.stmt) or not _in_function(site):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    siblings = body_of(site.source, node)
    loop = loop_around(site.source, node)
    first = bool(siblings) and (siblings[0] is node or _after_docstring(siblings, node))
    if not first and not isinstance(node, (ast.For, ast.While, ast.Return, ast.If)):
        return
    results = _results(site)
    for rank, test in enumerate(list(conditions(site, node))[:90]):
        exits: List[str] = ["return " + text for text in results]
        if loop is not None:
            exits = ["continue", "break"] + exits[:2]
        for step, leave in enumerate(exits):
            lines = ["if %s:" % test, "    " + leave]
            found = before(
                site,
                node,
                lines,
                "first, if `%s`: `%s`" % (test, leave),
                2.5 + 0.012 * rank + 0.04 * step,
            )
            if found is not None:
                yield found


def _after_docstring(siblings: List[ast.stmt], node: ast.stmt) -> bool:
    head = siblings[0]
    return (
        len(siblings) > 1
        and siblings[1] is node
        and isinstance(head, ast.Expr)
        and isinstance(head.value, ast.Constant)
    )


def _results(site: Site) -> List[str]:
    found: List[str] = []
    function = site.scope.innermost
    if function is None or isinstance(function, ast.Lambda):
        return []
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            text = site.source.segment(node.value)
            if len(text) <= 30 and "\n" not in text and text not in found:
                found.append(text)
    usual = (
        ["True", "False"]
        if any(t in ("True", "False") for t in found)
        else ["None", "0", "[]", "False", "True", '""', "1"]
    )
    parameters = [argument.arg for argument in function.args.args]
    return (found + [text for text in usual + parameters if text not in found])[:9]


def update(site: Site) -> Iterator[Proposal]:
    """A missing step: something collected, counted, or carried to the next round."""
    node = site.node
    if not isinstance(node, ast.stmt) or not _in_function(site):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    for rank, line in enumerate(_updates(site)):
        kind = "insert `%s`" % line
        if not isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            found = after(site, node, [line], kind, 2.0 + 0.02 * min(rank, 60))
            if found is not None:
                yield found
        siblings = body_of(site.source, node)
        if siblings and (
            siblings[0] is node or isinstance(node, (ast.Return, ast.Break, ast.Continue))
        ):
            found = before(site, node, [line], kind, 2.1 + 0.02 * min(rank, 60))
            if found is not None:
                yield found


def _updates(site: Site) -> Iterator[str]:
    names = site.scope.variables[:8]
    containers = _used_with(site, ("append", "add", "extend", "remove", "appendleft", "insert"))
    yield from _echoes(site, names)
    for container, method in containers:
        for name in names:
            if name != container:
                yield "%s.%s(%s)" % (container, method, name)
                yield "%s.%s(%s[-1])" % (container, method, name)
    counters = [n for n in names if n not in [c for c, _ in containers]]
    for name in counters[:6]:
        yield name + " += 1"
        yield name + " -= 1"
    for first in names:
        for second in names:
            if first != second:
                yield "%s = %s" % (first, second)
                yield "%s += %s" % (first, second)
    for name in names:
        yield name + " = 0"
        yield name + " = []"
        yield name + ".sort()"
        yield "%s = sorted(%s)" % (name, name)
        yield "%s = abs(%s)" % (name, name)
        yield "return " + name
    if loop_around(site.source, site.node) is not None:
        yield "break"
        yield "continue"


def _echoes(site: Site, names: List[str]) -> Iterator[str]:
    """Short statements that the function has already, as they are and about another element."""
    function = site.scope.innermost
    if function is None or isinstance(function, ast.Lambda):
        return
    for node in ast.walk(function):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) or node is site.node:
            continue
        text = site.source.segment(node)
        if (
            len(text) > 60
            or "\n" in text
            or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call))
        ):
            continue
        yield text
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            own = node.target.id
            for name in names:
                if name != own:
                    yield name + text[len(own) :]


def _used_with(site: Site, methods: "tuple[str, ...]") -> "list[tuple[str, str]]":
    function = site.scope.innermost
    found: "dict[tuple[str, str], None]" = {}
    if function is not None:
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in methods
                and isinstance(node.value, (ast.Name, ast.Attribute))
            ):
                found[(site.source.segment(node.value), node.attr)] = None
    return list(found)


def checked(site: Site) -> Iterator[Proposal]:
    """A check of what was just updated."""
    node = site.node
    if not isinstance(node, (ast.AugAssign, ast.Assign)) or not _in_function(site):
        return
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    text = site.source.segment(target)
    if isinstance(target, ast.Tuple) or len(text) > 40:
        return
    loop = loop_around(site.source, node)
    numbers = list(dict.fromkeys(["0", "1", "2"] + site.material.numbers))[:6]
    others = numbers + [name for name in site.scope.variables[:6] if name != text]
    leaves = ["return " + r for r in _results(site)[:4]] + (
        ["break", "continue"] if loop is not None else []
    )
    rank = 0
    for other in others:
        for symbol in ("<", ">", "==", "<=", ">="):
            for leave in leaves:
                lines = ["if %s %s %s:" % (text, symbol, other), "    " + leave]
                found = after(
                    site,
                    node,
                    lines,
                    "then, if `%s %s %s`: `%s`" % (text, symbol, other, leave),
                    2.6 + 0.008 * min(rank, 100),
                )
                rank += 1
                if found is not None:
                    yield found
            if isinstance(target, ast.Name) and other != "2":
                lines = ["if %s %s %s:" % (text, symbol, other), "    %s = %s" % (text, other)]
                found = after(
                    site,
                    node,
                    lines,
                    "keep `%s` within `%s`" % (text, other),
                    2.6 + 0.008 * min(rank, 100),
                )
                if found is not None:
                    yield found


def missing_import(site: Site) -> Iterator[Proposal]:
    """An import of a standard module that the code uses and nobody brought in."""
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return
    name = node.value.id
    if name not in _MODULES or name in site.scope.variables or name in site.scope.module_names:
        return
    function = site.scope.innermost
    if (
        function is None
        or isinstance(function, ast.Lambda)
        or ("import %s" % name) in site.source.text
    ):
        return
    first = function.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and len(function.body) > 1
    ):
        first = function.body[1]
    found = before(site, first, ["import " + name], "import `%s`" % name, 1.0)
    if found is not None:
        yield found


_MODULES = frozenset(
    "bisect collections copy csv datetime decimal functools hashlib heapq itertools json math "
    "operator os pathlib random re shutil statistics string subprocess sys tempfile time typing "
    "uuid".split()
)
