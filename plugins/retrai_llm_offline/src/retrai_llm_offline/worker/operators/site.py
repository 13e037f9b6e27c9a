"""A place in a file that operators look at, and how they word a replacement."""

from __future__ import annotations

import ast
from typing import Dict, List, Optional, Tuple

from ..candidate import Proposal
from ..scope import Scope
from ..source import SourceFile, fit


class Site:
    """One expression or statement with its surroundings."""

    def __init__(
        self, source: SourceFile, node: ast.AST, scope: Scope, material: "Material"
    ) -> None:
        self.source = source
        self.node = node
        self.scope = scope
        self.material = material

    @property
    def parent(self) -> Optional[ast.AST]:
        """The node that holds this one."""
        return self.source.parents.get(self.node)

    def text(self, node: ast.expr) -> str:
        """An expression as written, in parentheses if it stands in some."""
        return self.source.outer_segment(node)

    def put(self, node: ast.expr, new_text: str, kind: str, cost: float) -> Proposal:
        """Replace an expression, with parentheses added where they are needed."""
        start, end = self.source.span(node)
        return Proposal(((start, end, fit(self.source, node, new_text)),), kind, cost)

    def put_whole(self, node: ast.expr, new_text: str, kind: str, cost: float) -> Proposal:
        """Replace an expression together with its grouping parentheses."""
        start, end = self.source.outer_span(node)
        return Proposal(((start, end, fit(self.source, node, new_text)),), kind, cost)

    def between(self, start: int, end: int, new_text: str, kind: str, cost: float) -> Proposal:
        """Replace the text between two offsets."""
        return Proposal(((start, end, new_text),), kind, cost)


class Material:
    """What the code around a place offers to build from: literals, expressions, conditions."""

    def __init__(self, source: SourceFile, root: ast.AST) -> None:
        integers: Dict[str, None] = {}
        strings: Dict[str, None] = {}
        expressions: Dict[str, ast.expr] = {}
        conditions: Dict[str, None] = {}
        for node in ast.walk(root):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
                    integers[repr(node.value)] = None
                elif isinstance(node.value, str) and len(node.value) <= 12:
                    strings[source.segment(node)] = None
            elif isinstance(node, ast.expr) and not isinstance(node, (ast.Name, ast.Starred)):
                text = source.segment(node)
                if len(text) <= 60 and "\n" not in text and _is_value(source, node):
                    expressions.setdefault(text, node)
            if isinstance(node, (ast.If, ast.While, ast.IfExp)):
                conditions[source.segment(node.test)] = None
        self.numbers = list(integers)
        self.strings = [
            text for text in strings if text[0] in "\"'" and text[:3] not in ('"""', "'''")
        ]
        self.expressions: List[Tuple[str, ast.expr]] = list(expressions.items())
        self.conditions = [text for text in conditions if len(text) <= 60 and "\n" not in text]


def is_read(node: ast.AST) -> bool:
    """Whether an expression is one whose value is taken, not one that is assigned to or deleted."""
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _is_value(source: SourceFile, node: ast.expr) -> bool:
    if not is_read(node):
        return False
    parent = source.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return False
    return isinstance(
        node,
        (
            ast.Call,
            ast.Subscript,
            ast.Attribute,
            ast.BinOp,
            ast.UnaryOp,
            ast.List,
            ast.ListComp,
            ast.Tuple,
        ),
    )


def in_function(source: SourceFile, node: ast.AST) -> bool:
    """Whether a node is code, not an annotation, a decorator or part of an f-string."""
    child, parent = node, source.parents.get(node)
    while parent is not None:
        if isinstance(parent, (ast.JoinedStr, ast.arg)) or _is_header(parent, child):
            return False
        child, parent = parent, source.parents.get(parent)
    return True


def _is_header(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return child is parent.returns or child in parent.decorator_list
    if isinstance(parent, ast.ClassDef):
        return child in parent.decorator_list or child in parent.bases
    return isinstance(parent, ast.AnnAssign) and child is parent.annotation
