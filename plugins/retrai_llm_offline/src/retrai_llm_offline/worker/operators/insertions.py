"""Statements inserted from templates: guards, early returns, updates of what is accumulated."""

from __future__ import annotations

import ast
from typing import Iterator, List

from ..candidate import Proposal
from .comparisons import conditions
from .lines import after, before, block, body_of, is_docstring, joined, loop_around, shifted
from .site import Site
from .steps import steps


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
    if place is None or is_docstring(node):
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
    if is_docstring(node):
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
    return len(siblings) > 1 and siblings[1] is node and is_docstring(siblings[0])


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
    if is_docstring(node):
        return
    for rank, line in enumerate(steps(site)):
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
    leaves += _corrections(site, text)
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
                    2.6 + 0.004 * min(rank, 200),
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


def _corrections(site: Site, target: str) -> List[str]:
    """Changes of what was just updated, by what else is in scope."""
    function = site.scope.innermost
    if function is None or isinstance(function, ast.Lambda):
        return []
    others = [argument.arg for argument in function.args.args if argument.arg != target][:3]
    others += [name for name in site.scope.variables if name not in (target, *others)][:2] + ["1"]
    return ["%s %s= %s" % (target, sign, other) for other in others for sign in "-+"]


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
    if is_docstring(first) and len(function.body) > 1:
        first = function.body[1]
    found = before(site, first, ["import " + name], "import `%s`" % name, 1.0)
    if found is not None:
        yield found


_MODULES = frozenset(
    "bisect collections copy csv datetime decimal functools hashlib heapq itertools json math "
    "operator os pathlib random re shutil statistics string subprocess sys tempfile time typing "
    "uuid".split()
)
