"""Comprehensions: a filter left out or added, a set for a list, only what they go over."""

from __future__ import annotations

import ast
from typing import Iterator

from ..candidate import Proposal
from .comparisons import PREDICATES
from .site import Site


def comprehension(site: Site) -> Iterator[Proposal]:
    """A filter left out or added, a set for a list, or only what the comprehension goes over."""
    node = site.node
    if not isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return
    last = node.generators[-1]
    for test in last.ifs:
        start = site.source.outer_span(test)[0]
        keyword = site.source.text.rfind("if", 0, start)
        yield site.between(keyword, site.source.outer_span(test)[1], "", "drop the filter", 1.5)
    if isinstance(node, ast.ListComp):
        start, end = site.source.span(node)
        inside = site.source.text[start + 1 : end - 1]
        yield site.between(start, end, "{" + inside + "}", "a set", 2.0)
    if len(node.generators) == 1 and not isinstance(node, ast.DictComp):
        kind = "what it goes over, as it is"
        yield site.put(node, site.text(last.iter), kind, 1.7 + 0.2 * len(last.ifs))
    at = site.source.outer_span(last.iter)[1]
    names = [n.id for n in ast.walk(last.target) if isinstance(n, ast.Name)]
    for name in names:
        others = [other for other in site.scope.variables if other not in names]
        tests = [name, "%s %% 2 == 0" % name, "%s > 0" % name, "%s != 0" % name, "%s %% 2" % name]
        tests += [
            "%s %s %s" % (name, symbol, other)
            for other in others[:5]
            for symbol in ("!=", "==", "not in", "in", "<", ">")
        ]
        tests += ["%s.%s()" % (name, predicate) for predicate in PREDICATES]
        for rank, test in enumerate(tests):
            yield site.between(at, at, " if " + test, "filter by `%s`" % test, 2.3 + 0.02 * rank)
