"""Names: another variable, attribute or function that is within reach."""

from __future__ import annotations

import ast
from typing import Iterator, List, Set

from ..candidate import Proposal
from ..scope import attributes_of
from .site import Site

TWICE_COST = 0.25
ELSEWHERE = 16
"""Attributes of other objects that are tried."""


def _callee(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node


def variable(site: Site) -> Iterator[Proposal]:
    """Another variable in the place of one."""
    node = site.node
    if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Del):
        return
    if isinstance(site.parent, ast.Call) and _callee(site):
        arity = len(site.parent.args)
        for name, size in site.scope.callables.items():
            if name != node.id:
                yield site.put(node, name, "call `%s`" % name, 1.2 if size == arity else 1.9)
    elif isinstance(node.ctx, ast.Load):
        near = [(name, 1.0 + 0.03 * rank) for rank, name in enumerate(site.scope.variables[:14])]
        far = [(name, 1.4 + 0.05 * rank) for rank, name in enumerate(site.scope.module_names[:10])]
        beside = _names_beside(site)
        for name, cost in near + far:
            if name != node.id:
                twice = TWICE_COST if name in beside else 0.0
                yield site.put(node, name, "`%s` for `%s`" % (name, node.id), cost + twice)
    elif isinstance(site.parent, (ast.Assign, ast.AugAssign, ast.Tuple)):
        for rank, name in enumerate(site.scope.variables[:10]):
            if name != node.id:
                yield site.put(node, name, "assign to `%s`" % name, 1.5 + 0.03 * rank)


def _names_beside(site: Site) -> Set[str]:
    """The names in the same call or operation: few are meant to stand there twice."""
    if not isinstance(site.parent, (ast.Call, ast.BinOp, ast.Compare, ast.BoolOp)):
        return set()
    children = ast.iter_child_nodes(site.parent)
    return {child.id for child in children if isinstance(child, ast.Name)}


def attribute(site: Site) -> Iterator[Proposal]:
    """Another attribute of the same object; last, one that is only seen on another."""
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return
    end = site.source.span(node)[1]
    methods = _methods(site)
    own = attributes_of(site.source, node.value.id)
    elsewhere = [name for name in attributes_of(site.source) if name not in own]
    costs = [1.1 + 0.04 * rank for rank in range(len(own))]
    costs += [1.6 + 0.04 * rank for rank in range(len(elsewhere))]
    for name, cost in zip(own + elsewhere[:ELSEWHERE], costs):
        if name != node.attr and (name in methods) == _callee(site):
            yield site.between(
                end - len(node.attr), end, name, "`.%s` for `.%s`" % (name, node.attr), cost
            )


def _methods(site: Site) -> List[str]:
    return [
        node.func.attr
        for node in ast.walk(site.source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


def as_attribute(site: Site) -> Iterator[Proposal]:
    """A bare name for `self.name`, and the other way round."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not _callee(site):
        if "self" in site.scope.variables and node.id != "self":
            if node.id in attributes_of(site.source, "self"):
                yield site.put(node, "self." + node.id, "`self.%s`" % node.id, 1.4)
        return
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ):
        if node.attr in site.scope.variables and not _callee(site):
            yield site.put(node, node.attr, "the variable `%s`" % node.attr, 1.5)


def returned_instead(site: Site) -> Iterator[Proposal]:
    """What is known of a variable as the result, where the result is a constant."""
    node = site.node
    if not isinstance(node, ast.Constant) or not isinstance(site.parent, ast.Return):
        return
    truth = isinstance(node.value, bool)
    forms = ("not %s", "%s == 0", "%s") if truth else ("%s",)
    for rank, name in enumerate(site.scope.variables[:8]):
        for step, form in enumerate(forms):
            text = form % name
            cost = 1.9 + 0.03 * rank + 0.05 * step
            yield site.put(node, text, "`%s` as the result" % text, cost)


def returned_name(site: Site) -> Iterator[Proposal]:
    """A variable, its opposite or its negative as the value that is assigned or returned."""
    node = site.node
    parent = site.parent
    if not isinstance(node, ast.expr) or isinstance(node, ast.Constant):
        return
    if (
        not isinstance(parent, (ast.Return, ast.Assign))
        or getattr(parent, "value", None) is not node
    ):
        return
    for rank, name in enumerate(site.scope.variables[:8]):
        for text, extra in ((name, 0.0), ("-" + name, 0.4), ("not " + name, 0.5)):
            if text != site.source.segment(node):
                yield site.put(node, text, "`%s` as the value" % text, 1.6 + extra + 0.03 * rank)
