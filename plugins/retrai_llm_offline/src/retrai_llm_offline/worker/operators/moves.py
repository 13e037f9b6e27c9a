"""Statements moved in and out of loops and blocks, or past their neighbours."""

from __future__ import annotations

import ast
from typing import Iterator, List

from ..candidate import Proposal
from .lines import block, body_of, is_docstring, shifted
from .site import Site


def moved(site: Site) -> Iterator[Proposal]:
    """A statement moved past its neighbour, out of its block, or into the block above it."""
    node = site.node
    if not isinstance(node, ast.stmt):
        return
    place = block(site.source, node)
    siblings = body_of(site.source, node)
    if place is None or not siblings or is_docstring(node):
        return
    index = siblings.index(node)
    text = site.source.text[place[0] : place[1]]
    if not text.endswith("\n"):
        text += site.source.newline
    if index + 1 < len(siblings):
        following = block(site.source, siblings[index + 1])
        if following is not None and following[0] == place[1]:
            other = site.source.text[following[0] : following[1]]
            other += "" if other.endswith("\n") else site.source.newline
            yield site.between(place[0], following[1], other + text, "exchange two statements", 1.5)
    yield from _outwards(site, node, siblings, text)
    if index > 0:
        yield from _inwards(site, node, siblings[index - 1], text)


def _outwards(
    site: Site, node: ast.stmt, siblings: List[ast.stmt], text: str
) -> Iterator[Proposal]:
    parent = site.source.parents.get(node)
    if not isinstance(parent, (ast.For, ast.While, ast.If, ast.With)) or len(siblings) < 2:
        return
    place, around = block(site.source, node), block(site.source, parent)
    if place is None or around is None:
        return
    own, outer = site.source.indent_of(node), site.source.indent_of(parent)
    out = shifted(text, own, outer)
    if out is None:
        return
    if node is siblings[-1] and (
        (siblings is parent.body and not getattr(parent, "orelse", None))
        or siblings is not parent.body
    ):
        yield site.between(place[0], place[1], out, "move the statement out of the block", 1.5)
    else:
        edits = ((place[0], place[1], ""), (around[1], around[1], out))
        yield Proposal(edits, "move the statement below the block", 1.8)
    edits = ((around[0], around[0], out), (place[0], place[1], ""))
    yield Proposal(edits, "move the statement above the block", 1.9)


def _inwards(site: Site, node: ast.stmt, above: ast.stmt, text: str) -> Iterator[Proposal]:
    place = block(site.source, node)
    if place is None or not isinstance(above, (ast.For, ast.While, ast.If, ast.With)):
        return
    bodies = [above.body] if isinstance(above, ast.With) else [above.body, above.orelse]
    for body in filter(None, bodies):
        inner = body[-1]
        target = block(site.source, inner)
        if target is None:
            continue
        text_in = shifted(text, site.source.indent_of(node), site.source.indent_of(inner))
        if text_in is None:
            continue
        if target[1] == place[0]:
            yield site.between(
                place[0], place[1], text_in, "move the statement into the block", 1.6
            )
        else:
            edits = ((target[1], target[1], text_in), (place[0], place[1], ""))
            yield Proposal(edits, "move the statement into the block", 1.7)
        while isinstance(inner, (ast.For, ast.While, ast.If)) and not inner.orelse:
            inner = inner.body[-1]
            deep = shifted(text, site.source.indent_of(node), site.source.indent_of(inner))
            ending = block(site.source, inner)
            if deep is None or ending is None:
                break
            if ending[1] == place[0]:
                yield site.between(
                    place[0], place[1], deep, "move the statement into the inner block", 1.8
                )
