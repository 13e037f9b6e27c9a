"""Reads a Python file by `ast`: its definitions as chunks, and its code for the resolver."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Literal

from .blocks import last_line
from .model import Chunk, Source
from .python_facts import compile_facts

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
Scope = Literal["module", "class", "function"]
MAX_SIGNATURE = 400
MAX_DOC = 4000


def read_python(text: str) -> Source:
    """The chunks and facts of a module.

    Raises:
        SyntaxError: it does not parse; also for what is nested too deep for the parser.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in somebody's strings
        try:
            tree = ast.parse(text)
            facts = compile_facts(tree)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error)) from error
    lines = text.split("\n")
    source = Source("python", line_count=last_line(lines), facts=facts)
    spans: list[tuple[int, int]] = []
    _Reader(lines, source.chunks).definitions(tree.body, "", "module", spans)
    rest = _without(lines, 1, len(lines), spans)
    doc = ast.get_docstring(tree, clean=False) or ""
    head = Chunk("module", "", 1, max(1, last_line(lines)), doc=doc[:MAX_DOC], body=rest)
    source.chunks.insert(0, head)
    return source


class _Reader:
    """Makes a chunk of each definition; what is nested has a chunk of its own."""

    def __init__(self, lines: list[str], chunks: list[Chunk]) -> None:
        self.lines = lines
        self.chunks = chunks

    def definitions(
        self, body: Sequence[ast.AST], prefix: str, scope: Scope, spans: list[tuple[int, int]]
    ) -> None:
        """Add the definitions in a body, those below `if` and `try` included."""
        for node in body:
            if isinstance(node, _DEFINITIONS):
                spans.append(self._definition(node, prefix, scope))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                if scope != "function" and (name := _constant(node)):
                    spans.append(self._constant(node, f"{prefix}{name}"))
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncWith)):
                for part in ("body", "orelse", "finalbody"):
                    self.definitions(getattr(node, part, ()), prefix, scope, spans)
                for handler in getattr(node, "handlers", ()):
                    self.definitions(handler.body, prefix, scope, spans)
            elif isinstance(node, ast.TryStar):
                self.definitions(node.body, prefix, scope, spans)
            elif isinstance(node, ast.Match):
                for case in node.cases:
                    self.definitions(case.body, prefix, scope, spans)

    def _definition(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        prefix: str,
        scope: Scope,
    ) -> tuple[int, int]:
        start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        end = node.end_lineno or node.lineno
        symbol = f"{prefix}{node.name}"
        is_class = isinstance(node, ast.ClassDef)
        kind = "class" if is_class else "method" if scope == "class" else "function"
        body_start = node.body[0].lineno
        head = " ".join(line.strip() for line in self.lines[node.lineno - 1 : body_start - 1])
        if body_start == node.lineno:
            head = self.lines[node.lineno - 1].strip()
        doc = ast.get_docstring(node, clean=False) or ""
        chunk = Chunk(kind, symbol, start, end, _signature(head), doc[:MAX_DOC])
        self.chunks.append(chunk)
        inner: list[tuple[int, int]] = []
        within = "class" if is_class else "function"
        self.definitions(node.body, f"{symbol}.", within, inner)
        if doc and isinstance(node.body[0], ast.Expr):
            inner.append((node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno))
        chunk.body = _without(self.lines, start, end, inner)
        return start, end

    def _constant(self, node: ast.Assign | ast.AnnAssign, symbol: str) -> tuple[int, int]:
        start, end = node.lineno, node.end_lineno or node.lineno
        text = "\n".join(self.lines[start - 1 : end])
        signature = " ".join(text.split())[:MAX_SIGNATURE]
        self.chunks.append(Chunk("constant", symbol, start, end, signature, body=text))
        return start, end


def _constant(node: ast.Assign | ast.AnnAssign) -> str:
    """The name of a constant, in capitals; empty for another variable."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name) or len(target.id) == 1 or not target.id.isupper():
        return ""
    return target.id


def _signature(head: str) -> str:
    """The head without a comment that follows it, and bounded."""
    cut = head.rfind(":")
    return (head[:cut] if cut > 0 else head)[:MAX_SIGNATURE]


def _without(lines: list[str], start: int, end: int, spans: list[tuple[int, int]]) -> str:
    """Lines `start` to `end` without those of the spans."""
    kept: list[str] = []
    at = start
    for first, last in sorted(spans):
        kept += lines[at - 1 : first - 1]
        at = max(at, last + 1)
    kept += lines[at - 1 : end]
    return "\n".join(kept)
