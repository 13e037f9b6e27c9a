"""Whole-line edits: where a statement's lines begin and end, what stands before and after."""

from __future__ import annotations

import ast
from typing import List, Optional, Tuple

from ..candidate import Proposal
from ..source import SourceFile
from .site import Site

STEP = "    "


def last_line(node: ast.AST) -> int:
    """The last line of a node."""
    return int(getattr(node, "end_lineno", None) or getattr(node, "lineno", 1))


def block(source: SourceFile, node: ast.stmt) -> Optional[Tuple[int, int]]:
    """The offsets of a statement's whole lines, or None when it shares a line with other code."""
    if not source.starts_line(node):
        return None
    start = source.line_start(node.lineno)
    end_line = last_line(node)
    end = min(source.line_start(end_line + 1), len(source.text))
    rest = source.text[source.span(node)[1] : end].strip()
    if rest and not rest.startswith("#"):
        return None
    return start, end


def before(
    site: Site, node: ast.stmt, lines: List[str], kind: str, cost: float
) -> Optional[Proposal]:
    """Insert lines above a statement, at its indentation."""
    if not site.source.starts_line(node):
        return None
    indent = site.source.indent_of(node)
    start = site.source.line_start(node.lineno)
    return site.between(start, start, joined(site.source, indent, lines), kind, cost)


def after(
    site: Site, node: ast.stmt, lines: List[str], kind: str, cost: float
) -> Optional[Proposal]:
    """Insert lines below a statement, at its indentation."""
    place = block(site.source, node)
    if place is None:
        return None
    text = joined(site.source, site.source.indent_of(node), lines)
    end = place[1]
    if end == len(site.source.text) and not site.source.text.endswith("\n"):
        text = site.source.newline + text[: -len(site.source.newline)]
    return site.between(end, end, text, kind, cost)


def joined(source: SourceFile, indent: str, lines: List[str]) -> str:
    """Lines at one indentation, each with the file's line ending."""
    return "".join(indent + line + source.newline for line in lines)


def body_of(source: SourceFile, node: ast.stmt) -> List[ast.stmt]:
    """The list of statements that a statement stands in."""
    parent = source.parents.get(node)
    for field in ("body", "orelse", "finalbody"):
        inner: List[ast.stmt] = getattr(parent, field, [])
        if node in inner:
            return inner
    return []


def shifted(text: str, old: str, new: str) -> Optional[str]:
    """Lines moved from one indentation to another, or None if a line has less than the old one."""
    out: List[str] = []
    for line in text.splitlines(True):
        if not line.strip():
            out.append(line)
        elif line.startswith(old):
            out.append(new + line[len(old) :])
        else:
            return None
    return "".join(out)


def loop_around(source: SourceFile, node: ast.AST) -> Optional[ast.stmt]:
    """The nearest loop around a statement inside the same function."""
    current = source.parents.get(node)
    while current is not None and not isinstance(
        current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    ):
        if isinstance(current, (ast.For, ast.AsyncFor, ast.While)):
            return current
        current = source.parents.get(current)
    return None


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement does nothing: a docstring, or another bare constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
