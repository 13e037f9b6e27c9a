"""One source file: its text, its tree, and the way between tree positions and text offsets."""

from __future__ import annotations

import ast
import bisect
import io
import tokenize
from typing import Dict, Iterator, List, Optional, Tuple, Union

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Span = Tuple[int, int]

_LEVELS: Dict[type, int] = {
    ast.Tuple: 0,
    ast.Yield: 0,
    ast.YieldFrom: 0,
    ast.NamedExpr: 1,
    ast.Lambda: 2,
    ast.IfExp: 3,
    ast.Compare: 7,
    ast.UnaryOp: 14,
    ast.Await: 16,
}
_BINARY_LEVELS: Dict[type, int] = {
    ast.BitOr: 8,
    ast.BitXor: 9,
    ast.BitAnd: 10,
    ast.LShift: 11,
    ast.RShift: 11,
    ast.Add: 12,
    ast.Sub: 12,
    ast.Mult: 13,
    ast.Div: 13,
    ast.FloorDiv: 13,
    ast.Mod: 13,
    ast.MatMult: 13,
    ast.Pow: 15,
}
ATOM = 17


def level(node: ast.expr) -> int:
    """How tightly an expression binds: 0 a bare tuple, 17 a name or a call."""
    if isinstance(node, ast.BoolOp):
        return 4 if isinstance(node.op, ast.Or) else 5
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return 6
    if isinstance(node, ast.BinOp):
        return _BINARY_LEVELS.get(type(node.op), 12)
    return _LEVELS.get(type(node), ATOM)


class Unit:
    """An outermost function or method: hot-swapped as a whole when a line in it changes."""

    def __init__(self, node: FunctionNode, class_name: Optional[str], nested: bool) -> None:
        self.node = node
        self.class_name = class_name
        self.indented = nested
        self.first_line = min([d.lineno for d in node.decorator_list] + [node.lineno])
        self.last_line = int(node.end_lineno or node.lineno)

    @property
    def name(self) -> str:
        """The function's dotted name inside its module."""
        return self.node.name if self.class_name is None else self.class_name + "." + self.node.name


class SourceFile:
    """The text of a Python file with its syntax tree; offsets count characters from 0."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._starts = [0]
        for index, char in enumerate(text):
            if char == "\n":
                self._starts.append(index + 1)
        self._starts.append(len(text) + 1)
        self.parents: Dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self._spans: Dict[ast.AST, Span] = {}
        self.units = list(_units(self.tree.body, None, False))
        self._bodies = sorted((self._body_span(unit), unit.first_line, unit) for unit in self.units)
        self._body_starts = [span[0] for span, _, _ in self._bodies]

    @property
    def line_count(self) -> int:
        """Number of lines, the last one counted even without a newline."""
        return len(self._starts) - 1

    def line_start(self, line: int) -> int:
        """The offset where a line (from 1) begins."""
        return self._starts[min(line, len(self._starts)) - 1]

    def line_text(self, line: int) -> str:
        """A line without its line ending."""
        return self.text[self.line_start(line) : self.line_start(line + 1) - 1].rstrip("\r")

    def offset(self, line: int, column_bytes: int) -> int:
        """The character offset of a tree position, whose column counts UTF-8 bytes."""
        start = self.line_start(line)
        content = self.text[start : start + column_bytes]
        if content.isascii():
            return start + column_bytes
        raw = self.line_text(line).encode("utf-8")[:column_bytes]
        return start + len(raw.decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, without the parentheses around it."""
        known = self._spans.get(node)
        if known is not None:
            return known
        line = int(getattr(node, "lineno", 1))
        end_line = int(getattr(node, "end_lineno", None) or line)
        start = self.offset(line, int(getattr(node, "col_offset", 0)))
        end = self.offset(end_line, int(getattr(node, "end_col_offset", None) or 0))
        self._spans[node] = start, end
        return start, end

    def segment(self, node: ast.AST) -> str:
        """The text of a node as it is written."""
        start, end = self.span(node)
        return self.text[start:end]

    def outer_span(self, node: ast.expr) -> Span:
        """Where a node stands, together with the parentheses that only group it."""
        start, end = self.span(node)
        parent = self.parents.get(node)
        if parent is None or not hasattr(parent, "lineno"):
            return start, end
        low, high = self.span(parent)
        call_paren = -1
        if isinstance(parent, ast.Call) and node is not parent.func:
            call_paren = self.text.find("(", self.outer_span(parent.func)[1])
        while True:
            left, right = start - 1, end
            while left >= low and self.text[left] in " \t\r\n":
                left -= 1
            while right < high and self.text[right] in " \t\r\n":
                right += 1
            inside = left >= low and right < high
            if (
                not inside
                or self.text[left] != "("
                or self.text[right] != ")"
                or left == call_paren
            ):
                return start, end
            start, end = left, right + 1

    def outer_segment(self, node: ast.expr) -> str:
        """The text of a node with its grouping parentheses."""
        start, end = self.outer_span(node)
        return self.text[start:end]

    def indent_of(self, node: ast.stmt) -> str:
        """The white space before a statement that begins its line."""
        line = self.line_text(node.lineno)
        return line[: len(line) - len(line.lstrip())]

    def starts_line(self, node: ast.stmt) -> bool:
        """Whether nothing but white space stands before a statement on its line."""
        return not self.text[self.line_start(node.lineno) : self.span(node)[0]].strip()

    def _body_span(self, unit: Unit) -> Span:
        """From the first statement of a function's body to the end of its last line."""
        body = unit.node.body[0]
        start = self.line_start(body.lineno) if self.starts_line(body) else self.span(body)[0]
        return start, min(self.line_start(unit.last_line + 1), len(self.text))

    def unit_around(self, start: int, end: int) -> Optional[Unit]:
        """The outermost function whose body holds all of a piece of text, if any."""
        index = bisect.bisect_right(self._body_starts, start) - 1
        if index < 0:
            return None
        span, _, unit = self._bodies[index]
        return unit if end <= span[1] else None

    def line_of(self, offset: int) -> int:
        """The line that an offset lies in."""
        return bisect.bisect_right(self._starts, offset)

    def unit_at(self, line: int) -> Optional[Unit]:
        """The outermost function that a line belongs to, if any."""
        for unit in self.units:
            if unit.first_line <= line <= unit.last_line:
                return unit
        return None


def _units(body: List[ast.stmt], class_name: Optional[str], nested: bool) -> Iterator[Unit]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Unit(statement, class_name, nested)
        elif isinstance(statement, ast.ClassDef):
            yield from _units(statement.body, statement.name, True)
        else:
            for field in ("body", "orelse", "finalbody"):
                inner: List[ast.stmt] = getattr(statement, field, [])
                yield from _units(inner, class_name, True)


def read_text(path: str) -> str:
    """The text of a Python file, in its declared encoding, line endings kept."""
    with open(path, "rb") as stream:
        raw = stream.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding)


def fit(source: SourceFile, node: ast.expr, new_text: str) -> str:
    """Put parentheses around a replacement where its surroundings would tear it apart."""
    start, end = source.span(node)
    if isinstance(node, ast.GeneratorExp) and source.text[start : start + 1] == "(":
        parent = source.parents.get(node)
        if isinstance(parent, ast.Call) and source.text[end - 1 : end] == ")":
            return "(" + new_text + ")"
    try:
        new_level = level(ast.parse(new_text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return new_text
    if new_level == ATOM or source.outer_span(node) != (start, end):
        return new_text
    return "(" + new_text + ")" if new_level < _needed(source.parents.get(node), node) else new_text


def _needed(parent: Optional[ast.AST], node: ast.expr) -> int:
    if isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
        return ATOM
    if isinstance(parent, ast.Call):
        return ATOM if parent.func is node else 1
    if isinstance(parent, ast.BinOp):
        own = level(parent)
        return own if parent.left is node else own + 1
    if isinstance(parent, (ast.UnaryOp, ast.BoolOp, ast.Compare)):
        return level(parent) + (0 if isinstance(parent, ast.UnaryOp) else 1)
    if isinstance(parent, ast.IfExp):
        return 4
    if isinstance(parent, ast.comprehension):
        return 4
    if isinstance(parent, (ast.stmt, ast.Subscript)):
        return 0
    return 1
