"""Calls: arguments exchanged, added or left out, and functions that are easily mistaken."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List

from ..candidate import Proposal
from .site import Site, is_read

_BUILTIN_FAMILIES = [
    ["min", "max", "sum"],
    ["any", "all"],
    ["sorted", "reversed", "list", "set", "tuple", "sum"],
    ["len", "sum", "max"],
    ["int", "float", "round", "str", "abs", "bool"],
    ["ord", "chr"],
    ["ceil", "floor", "trunc", "sqrt"],
    ["enumerate", "reversed", "range"],
    ["isinstance", "issubclass"],
    ["map", "filter"],
    ["hex", "bin", "oct", "str"],
    ["heappush", "heappop", "heapify"],
    ["bisect_left", "bisect_right", "insort"],
    ["dict", "defaultdict", "Counter", "OrderedDict"],
    ["zip", "zip_longest", "product"],
    ["combinations", "permutations", "combinations_with_replacement", "product"],
]
_METHOD_FAMILIES = [
    ["append", "extend", "add", "remove", "appendleft", "insert"],
    ["pop", "popleft", "remove", "discard"],
    ["lower", "upper", "swapcase", "title", "capitalize", "casefold"],
    ["islower", "isupper", "isalpha", "isdigit", "isalnum", "isspace", "isnumeric"],
    ["upper", "isupper"],
    ["lower", "islower"],
    ["title", "istitle"],
    ["strip", "lstrip", "rstrip"],
    ["startswith", "endswith"],
    ["find", "rfind", "index", "rindex", "count"],
    ["split", "rsplit", "splitlines", "partition", "rpartition"],
    ["keys", "values", "items"],
    ["union", "intersection", "difference", "symmetric_difference"],
    ["issubset", "issuperset", "isdisjoint"],
    ["ljust", "rjust", "center", "zfill"],
    ["encode", "decode"],
    ["update", "setdefault", "add"],
    ["get", "pop", "setdefault"],
    ["match", "search", "fullmatch"],
    ["replace", "strip"],
    ["days", "seconds", "total_seconds"],
    ["digest", "hexdigest"],
]


def _swaps(families: List[List[str]]) -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = {}
    for family in families:
        for name in family:
            others = found.setdefault(name, [])
            others += [other for other in family if other != name and other not in others]
    return found


BUILTINS = _swaps(_BUILTIN_FAMILIES)
METHODS = _swaps(_METHOD_FAMILIES)
_KEYS = [
    "len",
    "abs",
    "str",
    "lambda item: -item",
    "lambda item: item[0]",
    "lambda item: item[1]",
    "lambda item: -item[1]",
    "lambda item: item[-1]",
    "lambda item: -len(item)",
    "lambda item: len(set(item))",
    "lambda item: (len(item), item)",
    "lambda item: (-len(item), item)",
    "lambda item: (-item[1], item[0])",
    "lambda item: (len(set(item)), item)",
    "lambda item: (-len(set(item)), item)",
    "str.lower",
    "lambda item: item.lower()",
]


def callee(site: Site) -> Iterator[Proposal]:
    """A function or method that is easily taken for the one that is called."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name):
        for rank, other in enumerate(BUILTINS.get(node.func.id, [])):
            if other in site.scope.callables or other in _BUILTIN_NAMES:
                kind = "`%s` for `%s`" % (other, node.func.id)
                yield site.put(node.func, other, kind, 1.15 + 0.05 * rank)
    if isinstance(node.func, ast.Attribute):
        end = site.source.span(node.func)[1]
        name = node.func.attr
        for rank, other in enumerate(METHODS.get(name, []) + BUILTINS.get(name, [])):
            kind = "`%s` for `%s`" % (other, name)
            yield site.between(end - len(name), end, other, kind, 1.1 + 0.05 * rank)


_BUILTIN_NAMES = frozenset(dir(__import__("builtins")))


def arguments(site: Site) -> Iterator[Proposal]:
    """Arguments exchanged or left out; the call replaced by its argument or by its object."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    spans = [site.source.outer_span(argument) for argument in node.args]
    texts = [site.text(argument) for argument in node.args]
    for first in range(len(spans)):
        for second in range(first + 1, len(spans)):
            edits = ((*spans[first], texts[second]), (*spans[second], texts[first]))
            yield Proposal(edits, "exchange two arguments", 1.1 + 0.2 * (second - first - 1))
    if len(spans) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        inner = texts[0]
        if isinstance(node.args[0], ast.GeneratorExp):
            inner = inner if inner.startswith("(") else "(" + inner + ")"
        yield site.put(node, inner, "the argument itself", 1.3)
    if len(spans) > 1:
        for index in range(len(spans)):
            yield _without(site, spans, index)
    if isinstance(node.func, ast.Attribute):
        yield site.put(node, site.text(node.func.value), "leave out `.%s`" % node.func.attr, 1.5)
    for keyword in node.keywords:
        start, end = site.source.span(keyword.value)
        before = site.source.text.rfind(",", 0, start)
        if spans and before > spans[-1][1] - 1:
            yield site.between(before, end, "", "leave out `%s=`" % keyword.arg, 1.6)


def _without(site: Site, spans: "list[tuple[int, int]]", index: int) -> Proposal:
    if index == 0:
        return site.between(spans[0][0], spans[1][0], "", "leave out the first argument", 1.4)
    return site.between(spans[index - 1][1], spans[index][1], "", "leave out an argument", 1.4)


def more_arguments(site: Site) -> Iterator[Proposal]:
    """One more argument: a name in scope, a start of 1, a step, a key, a direction."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name == "range":
        yield from _range(site, node)
        return
    end = site.source.span(node)[1] - 1
    lead = ", " if node.args or node.keywords else ""
    if name in ("sorted", "sort", "min", "max"):
        yield from _orders(site, node, name)
    if name in ("min", "max") and node.args:
        yield from _extremes(site, node)
    for rank, text in enumerate(_usual_arguments(site, node, name)):
        yield _insert(site, end, lead + text, "with `%s`" % text, 1.5 + 0.1 * rank)
    if site.scope.callables.get(name, -2) >= len(node.args):
        for rank, variable in enumerate(site.scope.variables[:8]):
            yield _insert(site, end, lead + variable, "pass `%s` too" % variable, 1.8 + 0.03 * rank)


def _orders(site: Site, node: ast.Call, name: str) -> Iterator[Proposal]:
    if any(keyword.arg == "key" for keyword in node.keywords):
        return
    end = site.source.span(node)[1] - 1
    lead = ", " if node.args or node.keywords else ""
    if name in ("sorted", "sort") and not node.keywords:
        yield _insert(site, end, lead + "reverse=True", "sort the other way round", 1.3)
    own = [name for name, size in site.scope.callables.items() if size == 1][:4]
    keys = own + ["lambda item: (%s(item), item)" % name for name in own] + _KEYS
    for rank, key in enumerate(keys):
        cost = 1.5 + 0.05 * rank if key in own else 2.0 + 0.05 * rank
        yield _insert(site, end, lead + "key=" + key, "order by `%s`" % key, cost)


def _usual_arguments(site: Site, node: ast.Call, name: str) -> List[str]:
    """Arguments that a call is often short of."""
    count = len(node.args)
    if name == "enumerate" and count == 1:
        return ["1"]
    if name in ("split", "strip", "rstrip", "lstrip", "join") and not count:
        return ['" "', '","'] + site.material.strings
    if name in ("get", "pop") and count == 1:
        return ["0", "None", "[]", '""']
    if name == "pop" and not count:
        return ["0", "-1"]
    return []


def _insert(site: Site, at: int, text: str, kind: str, cost: float) -> Proposal:
    return site.between(at, at, text, kind, cost)


def _range(site: Site, node: ast.Call) -> Iterator[Proposal]:
    texts = [site.source.segment(argument) for argument in node.args]
    start = site.source.span(node.func)[1] + 1
    end = site.source.span(node)[1] - 1
    forms: List[str] = []
    if len(texts) == 1:
        forms = [
            "1, %s",
            "0, %s, 2",
            "%s, 0, -1",
            "%s - 1, -1, -1",
            "2, %s",
            "1, %s + 1",
            "0, %s + 1",
        ]
        forms = [form % texts[0] for form in forms]
        forms += ["%s, %s" % (name, texts[0]) for name in site.scope.variables[:8]]
    elif len(texts) == 2:
        forms = [
            "%s + 1, %s + 1",
            "%s, %s, 2",
            "%s, %s, -1",
            "%s - 1, %s - 1",
            "%s + 1, %s",
            "%s, %s + 1",
        ]
        forms = [form % (texts[0], texts[1]) for form in forms]
        forms.append("%s - 1, %s - 1, -1" % (texts[1], texts[0]))
        if texts[0] == "0":
            forms.append(texts[1])
    elif len(texts) == 3:
        forms = [
            "%s, %s, -%s",
            "%s, %s - 1, %s",
            "%s - 1, %s, %s",
            "%s, %s + 1, %s",
            "%s - 1, %s - 1, %s",
        ]
        forms = [form % (texts[0], texts[1], texts[2]) for form in forms]
    for rank, form in enumerate(forms):
        yield site.between(start, end, form, "`range(%s)`" % form, 1.3 + 0.05 * rank)


def _extremes(site: Site, node: ast.Call) -> Iterator[Proposal]:
    start = site.source.span(node.func)[1] + 1
    end = site.source.span(node)[1] - 1
    names = site.scope.variables[:8]
    if len(node.args) == 1:
        text = site.text(node.args[0])
        if not isinstance(node.args[0], ast.GeneratorExp):
            for rank, other in enumerate(["0", "1"] + names):
                if other != text:
                    yield site.between(
                        end, end, ", " + other, "also `%s`" % other, 1.9 + 0.03 * rank
                    )
        for first in names:
            for second in names:
                if first < second:
                    form = "%s, %s" % (first, second)
                    yield site.between(start, end, form, "the extreme of `%s`" % form, 2.0)
        yield site.between(end, end, ", default=0", "a default of 0", 2.0)
    elif len(node.args) == 2:
        for rank, other in enumerate(names + ["0", "1"]):
            yield site.between(end, end, ", " + other, "also `%s`" % other, 2.0 + 0.03 * rank)


def nested(site: Site) -> Iterator[Proposal]:
    """A function of the module applied around a value, or twice, or to one more argument."""
    node = site.node
    if not isinstance(node, (ast.Call, ast.Name, ast.Subscript, ast.Attribute)):
        return
    if not is_read(node):
        return
    parent = site.parent
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    if not isinstance(parent, (ast.Return, ast.Assign, ast.Call, ast.Compare, ast.BinOp)):
        return
    for rank, (name, size) in enumerate(site.scope.callables.items()):
        if size == 1 and rank < 6:
            yield site.put(
                node, "%s(%s)" % (name, site.text(node)), "apply `%s`" % name, 1.8 + 0.05 * rank
            )
