"""Code that a type checker takes for unreachable, and so does not check.

`reveal_type(N)` before each statement tells what pyright reaches: it reports every one of them,
whatever the project's settings are. What is not reached is exposed then, by conditions that may
hold or not, so that pyright says what is wrong there.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

Edit = tuple[int, int, str]
"""Where a piece begins and ends, and what takes its place."""

_EITHER = "bool(id(0))"
_ANY = 'eval("0")'


@dataclass(frozen=True)
class Place:
    """What one probe stands for: a statement with those after it in its block, or an operand.

    Attributes:
        start, end: where it stands in the text.
        before: the place that is reached just before it; None at the top.
        exposing: edits after which it is reached.
        has_code: it does more than raise an error, or give a constant back.
    """

    start: int
    end: int
    before: int | None
    exposing: Sequence[Edit]
    has_code: bool


class Probes:
    """The probes of one file.

    Args:
        text: of the file.
        first: the number of its first place.

    Attributes:
        places: by number.

    Raises:
        SyntaxError, ValueError, RecursionError: it is no Python.
    """

    def __init__(self, text: str, first: int) -> None:
        self.text = text
        self.places: dict[int, Place] = {}
        self._next = first
        self._inserted: list[tuple[int, int, int, str]] = []
        self._starts = [0]
        # As the parser counts lines: a form feed ends none.
        self._lines = list(io.StringIO(text, newline=""))
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._block(ast.parse(text).body, None, ())

    @property
    def probed(self) -> str:
        """The text with its probes."""
        return _edited(self.text, [(at, at, text) for at, _, _, text in sorted(self._inserted)])

    def hidden(self, reached: Collection[int]) -> list[Place]:
        """What is not reached although that before it is, and has code of its own."""
        return [
            place
            for number, place in self.places.items()
            if number not in reached
            and (place.before is None or place.before in reached)
            and place.has_code
        ]

    def exposed(self, places: Sequence[Place]) -> tuple[str, list[tuple[int, int]]]:
        """The text with these places reached, and their first and last lines there, from 0."""
        edits: list[Edit] = []
        for edit in sorted({edit for place in places for edit in place.exposing}):
            if not edits or edit[0] >= edits[-1][1]:
                edits.append(edit)
        text = _edited(self.text, edits)

        def line(offset: int) -> int:
            grown = sum(len(new) - (end - at) for at, end, new in edits if end <= offset)
            return text.count("\n", 0, offset + grown)

        return text, [(line(place.start), line(place.end)) for place in places]

    def _block(
        self, body: Sequence[ast.stmt], before: int | None, exposing: Sequence[Edit]
    ) -> None:
        end = self._span(body[-1])[1] if body else 0
        for index, statement in enumerate(body):
            start = self._start(statement)
            place = Place(start, end, before, exposing, any(map(_has_code, body[index:])))
            number = self._probe(statement, start, place)
            self._inside(statement, number, ())
            if number is not None:
                before = number
            exposing = self._after(statement)

    def _probe(self, statement: ast.stmt, start: int, place: Place) -> int | None:
        """Put a probe before a statement; None where none may stand."""
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if docstring or future:
            return None
        number = self._new(place)
        after = "; "
        if any(hasattr(statement, name) for name in ("body", "cases")):
            line = self.text.rfind("\n", 0, start) + 1
            after = f"\n{self.text[line:start]}"
        self._inserted.append((start, 1, number, f"reveal_type({number}){after}"))
        return number

    def _new(self, place: Place) -> int:
        number, self._next = self._next, self._next + 1
        self.places[number] = place
        return number

    def _inside(self, node: ast.AST, number: int | None, exposing: Sequence[Edit]) -> None:
        """The blocks and operands of a statement, which a condition of its own may hide."""
        if isinstance(node, (ast.If, ast.While)):
            exposing = [*exposing, self._replaced(node.test, _EITHER)]
        elif isinstance(node, ast.Match):
            exposing = [*exposing, self._replaced(node.subject, _ANY)]
            for case in node.cases:
                self._block(case.body, number, exposing)
        for block in _blocks(node):
            if self._is_elif(block[0]):
                # No probe can stand before it.
                self._inside(block[0], number, exposing)
            else:
                self._block(block, number, exposing)
        for handler in getattr(node, "handlers", ()):
            self._block(handler.body, number, ())
        for part in _expressions(node):
            self._operands(part, number)

    def _is_elif(self, node: ast.AST) -> bool:
        return isinstance(node, ast.If) and self.text.startswith("elif", self._span(node)[0])

    def _operands(self, node: ast.AST, number: int | None) -> None:
        """What a condition within an expression hides.

        The condition stays as it is, since pyright learns from it. Behind `and` and `or`, and in
        comprehensions, pyright looks at everything.
        """
        below = list(ast.iter_child_nodes(node))
        match node:
            case ast.IfExp(test=test, body=one, orelse=other):
                below = [one, other]
                for part in (one, other):
                    start, end = self._span(part)
                    has_code = not isinstance(part, (ast.Constant, ast.Name))
                    exposing = [self._replaced(test, _EITHER)]
                    own = self._new(Place(start, end, number, exposing, has_code))
                    self._inserted.append((start, 1, own, f"(reveal_type({own}), "))
                    # What was opened last is closed first, and before another is opened there.
                    self._inserted.append((end, 0, -own, ")[1]"))
            case ast.JoinedStr() | ast.Yield() | ast.YieldFrom():
                return  # where an f-string's parts stand is not always known
            case _:
                pass
        for part in below:
            self._operands(part, number)

    def _after(self, statement: ast.stmt) -> list[Edit]:
        """Edits after which what follows a statement is reached, whatever the statement does."""
        match statement:
            case ast.If() | ast.While():
                chain = [self._replaced(statement.test, _EITHER)]
                while statement.orelse and self._is_elif(statement.orelse[0]):
                    statement = statement.orelse[0]
                    assert isinstance(statement, ast.If)
                    chain.append(self._replaced(statement.test, _EITHER))
                return chain
            case ast.Match(subject=subject):
                return [self._replaced(subject, _ANY)]
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return [self._replaced(value, _ANY)]
            case ast.AugAssign(value=value):
                return [self._replaced(value, _ANY)]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return []
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                return []
            case _:
                return [(*self._span(statement), "pass")]

    def _replaced(self, node: ast.expr, text: str) -> Edit:
        return (*self._span(node), text)

    def _start(self, node: ast.stmt) -> int:
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return self._span(node)[0]
        return self.text.rfind("@", 0, self._span(decorators[0])[0])

    def _span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _edited(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block: object = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield cast("list[ast.stmt]", block)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """A statement's own expressions, without annotations, conditions and what stands in blocks."""
    fields = cast("Iterator[tuple[str, object]]", ast.iter_fields(node))
    for name, value in fields:
        if name in ("annotation", "returns", "decorator_list", "type_params", "test", "subject"):
            continue
        for each in cast("list[object]", value) if isinstance(value, list) else [value]:
            if isinstance(each, ast.expr):
                yield each
            elif isinstance(each, (ast.withitem, ast.keyword)):
                yield from _expressions(each)


def _has_code(statement: ast.stmt) -> bool:
    """Whether a statement does more than honest code does where it should never come to."""
    match statement:
        case ast.Raise() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Break():
            return False
        case ast.Continue() | ast.Assert(test=ast.Constant()):
            return False
        case ast.Return(value=value) | ast.Expr(value=value):
            if isinstance(value, ast.Call):
                return "assert_never" not in ast.unparse(value.func)
            return value is not None and not isinstance(value, (ast.Constant, ast.Name))
        case _:
            return True
