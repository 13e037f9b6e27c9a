"""The same small change made at every place of a function where it can be made."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, Tuple

from ..candidate import Proposal
from ..scope import Scope
from ..source import SourceFile, Span
from .site import in_function

Change = Tuple[int, int, str]


def everywhere(source: SourceFile, function: ast.AST, scope: Scope) -> Iterator[Proposal]:
    """Replace each occurrence of a literal or of a name, and turn every True and False round."""
    literals, names, flags = _places(source, function)
    if len(flags) > 1:
        yield Proposal(tuple(flags), "turn every truth value round", 1.6)
    for text, places in literals.items():
        if 1 < len(places) <= 12:
            for rank, other in enumerate(_near(text, list(literals))):
                edits = tuple((start, end, other) for start, end in places)
                yield Proposal(edits, "%s for every %s" % (other, text), 1.7 + 0.05 * rank)
    for name, places in names.items():
        if 1 < len(places) <= 12 and name in scope.variables:
            for rank, other in enumerate(scope.variables[:8]):
                if other != name:
                    edits = tuple((start, end, other) for start, end in places)
                    yield Proposal(edits, "`%s` for every `%s`" % (other, name), 2.0 + 0.05 * rank)


def _places(
    source: SourceFile, function: ast.AST
) -> Tuple[Dict[str, List[Span]], Dict[str, List[Span]], List[Change]]:
    """Where literals and names stand, by their text, and each truth value's opposite."""
    literals: Dict[str, List[Span]] = {}
    names: Dict[str, List[Span]] = {}
    flags: List[Change] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.setdefault(node.id, []).append(source.span(node))
        elif isinstance(node, ast.Constant) and in_function(source, node):
            start, end = source.span(node)
            if node.value is True or node.value is False:
                flags.append((start, end, repr(not node.value)))
            elif isinstance(node.value, (int, float, str)):
                if not isinstance(source.parents.get(node), ast.Expr):
                    literals.setdefault(source.text[start:end], []).append((start, end))
    return literals, names, flags


def _near(text: str, others: List[str]) -> Iterator[str]:
    if text[:1] in "\"'":
        quote = text[0]
        for other in (quote + quote, quote + " " + quote):
            if other != text:
                yield other
        yield from (o for o in others if o[:1] in "\"'" and o != text and len(o) <= 12)
        return
    try:
        value = int(text)
    except ValueError:
        return
    for other in dict.fromkeys([str(value + 1), str(value - 1), "0", "1"]):
        if other != text and not other.startswith("-"):
            yield other
