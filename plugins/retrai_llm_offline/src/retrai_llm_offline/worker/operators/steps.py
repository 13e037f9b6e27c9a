"""Short statements that may be missing: what is collected, counted, or carried along."""

from __future__ import annotations

import ast
import re
from typing import Dict, Iterator, List, Tuple

from .lines import is_docstring, loop_around
from .site import Site


def steps(site: Site) -> Iterator[str]:
    """Short statements that may be missing: steps over the names in scope."""
    names = site.scope.variables[:8]
    containers = _used_with(site, ("append", "add", "extend", "remove", "appendleft", "insert"))
    yield from _echoes(site, names)
    yield from _parallels(site, names)
    unfilled = _unfilled(site, [container for container, _ in containers])
    for container, method in containers + unfilled:
        yield from _collected(container, method, names)
    counters = [n for n in names if n not in [c for c, _ in containers]]
    for name in counters[:6]:
        yield name + " += 1"
        yield name + " -= 1"
    yield from _elements(site, names)
    yield from _of_two(names)
    for container, _ in containers:
        yield from (container + tail for tail in (".pop()", ".pop(0)", ".clear()"))
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


_FILLED_BY = {"set": "add", "list": "append", "deque": "append"}


def _unfilled(site: Site, filled: List[str]) -> List[Tuple[str, str]]:
    """Containers within reach that begin empty or short, and that nothing is put into."""
    found: Dict[str, str] = {}
    for node in ast.walk(site.source.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name, value = node.targets[0].id, node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            kind = value.func.id
        else:
            kind = type(value).__name__.lower()
        if kind in _FILLED_BY and name in site.scope.variables and name not in filled:
            found[name] = _FILLED_BY[kind]
    return list(found.items())[:3]


def _collected(container: str, method: str, names: List[str]) -> Iterator[str]:
    for name in names:
        if name != container:
            yield "%s.%s(%s)" % (container, method, name)
            yield "%s.%s(%s[-1])" % (container, method, name)


def _of_two(names: List[str]) -> Iterator[str]:
    """One variable taken over from another, added to it, or kept as the extreme of both."""
    for first in names:
        for second in names:
            if first != second:
                yield "%s = %s" % (first, second)
                yield "%s += %s" % (first, second)
    for first in names[:6]:
        for second in names[:6]:
            for extreme in ("max", "min") if first != second else ():
                yield "%s = %s(%s, %s)" % (first, extreme, first, second)


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


def _parallels(site: Site, names: List[str]) -> Iterator[str]:
    """The statement here again: for another variable, or in the opposite direction."""
    node = site.node
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
        return
    text = site.source.segment(node)
    if len(text) > 80 or "\n" in text or is_docstring(node):
        return
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for own in [name for name in names if name in used]:
        for other in [name for name in names if name not in used]:
            yield re.sub(r"\b%s\b" % re.escape(own), other, text)
    for sign, opposite in ((" + ", " - "), (" - ", " + ")):
        if sign in text:
            yield text.replace(sign, opposite)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        arguments = [site.text(argument) for argument in node.value.args]
        if len(arguments) == 2:
            yield "%s(%s)" % (site.source.segment(node.value.func), ", ".join(arguments[::-1]))


def _elements(site: Site, names: List[str]) -> Iterator[str]:
    """An element set, counted or added to, of what the function takes elements from."""
    function = site.scope.innermost
    if function is None:
        return
    indexed: Dict[str, None] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            indexed[node.value.id] = None
    for container in [name for name in indexed if name in names][:3]:
        for index in names[:6]:
            if index == container:
                continue
            element = "%s[%s]" % (container, index)
            for value in ("True", "False", "0", "1"):
                yield "%s = %s" % (element, value)
            yield element + " += 1"
            for value in names[:5]:
                if value not in (container, index):
                    yield "%s = %s" % (element, value)
                    yield "%s += %s" % (element, value)
