"""Code that a type checker takes for unreachable, and so does not check.

`reveal_type(N)` before each statement tells what pyright reaches: it reports every one of them,
whatever the project's settings are. What is not reached is exposed then, by conditions that may
hold or not, so that pyright says what is wrong there.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import cast

from .output import Range
from .type_excuses import IGNORES, comments_in

Position = tuple[int, int]
"""A line and a column, from 0."""
_Change = Callable[[], object]
"""Changes the syntax tree."""

_EITHER = ast.parse("bool(id(0))", mode="eval").body
_ANY = ast.parse('eval("0")', mode="eval").body
# Annotations, and conditions, which exposing replaces.
_NOT_OPERANDS = ("annotation", "returns", "decorator_list", "type_params", "test", "subject")


@dataclass(frozen=True)
class Place:
    """What one probe stands for: a statement with those after it in its block, or an operand.

    Attributes:
        first, last: where it begins and ends.
        before: the place that is reached just before it; None at the top.
        exposing: changes after which it is reached.
        has_code: it does more than raise an error, or give a constant back.
    """

    first: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    before: int | None
    exposing: Sequence[_Change]
    has_code: bool


@dataclass(frozen=True)
class Exposed:
    """A file whose hidden places are reached.

    Attributes:
        text: of the file.
        ranges: where the places begin and end in it.
        origins: by line of `text`, from 0, the line of the original file, from 1. What a comment
            excused there has none.
    """

    text: str
    ranges: Sequence[tuple[Position, Position]]
    origins: dict[int, int]

    def origin(self, at: Position) -> int:
        """The line of the original file, from 1, where something stands in one of the places."""
        is_hidden = any(first <= at <= last for first, last in self.ranges)
        return self.origins.get(at[0], 0) if is_hidden else 0


class Probes:
    """The probes of one file.

    Args:
        text: of the file.
        first: the number of its first place.
        errors: where errors were, by number. What stands there tells its type, as
            `reveal_type((NUMBER, N, EXPRESSION))`.

    Attributes:
        places: by number.
        probed: the file with its probes; comments are left out, but for those at its beginning.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python, or nested too deep.
    """

    def __init__(self, text: str, first: int, errors: Mapping[int, Range] | None = None) -> None:
        self.places: dict[int, Place] = {}
        self._next = first
        self._tree, self._lines = ast.parse(text), text.split("\n")
        above = _start(self._tree.body[0])[0] if self._tree.body else 0
        self._head = [line for line in self._lines[:above] if line.startswith("#")]
        ignores = {line for line, said in comments_in(text).items() if IGNORES.search(said)}
        self._excused = {
            node
            for node in ast.walk(self._tree)
            if isinstance(node, ast.stmt) and not ignores.isdisjoint(_own_lines(node))
        }
        self._type_probes: defaultdict[ast.stmt, list[ast.Expr]] = defaultdict(list)
        for number, error in (errors or {}).items():
            self._probe_types(number, error)
        self._block(self._tree.body, None, ())
        self.probed = self._written()
        for probe in chain.from_iterable(self._type_probes.values()):
            probe.value = ast.Constant(...)

    def hidden(self, reached: Collection[int]) -> list[Place]:
        """What is not reached although that before it is, and has code of its own."""
        return [
            place
            for number, place in self.places.items()
            if number not in reached
            and (place.before is None or place.before in reached)
            and place.has_code
        ]

    def exposed(self, places: Sequence[Place]) -> Exposed:
        """The file with these places reached.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: it is nested too deep.
        """
        for place in places:
            for change in place.exposing:
                change()
        text = self._written()
        # What is written out and parsed again has the same nodes.
        pairs = list(zip(ast.walk(self._tree), ast.walk(ast.parse(text)), strict=False))
        now = {old: new for old, new in pairs if isinstance(new, (ast.stmt, ast.expr))}
        origins: dict[int, int] = {}
        for old, new in pairs:
            # Probes have no line; a statement within another one comes later.
            if isinstance(old, ast.stmt) and isinstance(new, ast.stmt) and hasattr(old, "lineno"):
                for line in range(_start(new)[0], _end(new)[0] + 1):
                    origins[line] = 0 if old in self._excused else old.lineno
        ranges = [
            (_start(now[place.first]), _end(now[place.last]))
            for place in places
            if place.first in now and place.last in now
        ]
        return Exposed(text, ranges, {line: origin for line, origin in origins.items() if origin})

    def _written(self) -> str:
        return "\n".join([*self._head, ast.unparse(self._tree)])

    def _probe_types(self, number: int, error: Range) -> None:
        """Probes for the types at an error: of the smallest expression around it, and its parts."""
        start, end = (
            (at.line, len("".join(self._lines[at.line : at.line + 1])[: at.character].encode()))
            for at in (error.start, error.end)
        )
        outermost = [node for node in self._tree.body if _start(node) <= start <= _end(node)]
        around = [
            node
            for node in chain.from_iterable(map(ast.walk, outermost))
            if isinstance(node, (ast.stmt, ast.expr))
            and _start(node) <= start
            and end <= _end(node)
        ]
        statements = [node for node in around if isinstance(node, ast.stmt)]
        elifs = {branch for statement in statements for branch in _branches(statement)[1:]}
        inner = max(around, key=_narrowness, default=None)
        if not isinstance(inner, (ast.expr, ast.AugAssign)):
            return
        before = [statement for statement in statements if statement not in elifs][-1]
        parts = [inner, *ast.iter_child_nodes(inner)]
        self._type_probes[before] += [
            ast.Expr(_reveal(ast.Tuple([ast.Constant(number), ast.Constant(n), part], ast.Load())))
            for n, part in enumerate(parts)
            if isinstance(part, ast.expr)
            and not isinstance(part, (ast.Starred, ast.Slice, ast.FormattedValue))
        ]

    def _block(self, body: list[ast.stmt], before: int | None, exposing: Sequence[_Change]) -> None:
        """Put a probe before each statement of a block, of those within it, and before operands."""
        statements = [*body]
        body.clear()
        for index, statement in enumerate(statements):
            if not _must_be_first(statement):
                has_code = any(map(_has_code, statements[index:]))
                before = self._new(Place(statement, statements[-1], before, exposing, has_code))
                body.append(ast.Expr(_reveal(ast.Constant(before))))
                conditions, branches = _conditions(statement), _branches(statement)
                for block in chain.from_iterable(map(_blocks, branches)):
                    # A probe before each `elif` would nest them one in the other.
                    if block[0] not in branches:
                        self._block(block, before, conditions)
                self._operands(statement, before)
                exposing = conditions or _leaving_out(statement, body)
            body += [*self._type_probes.get(statement, ()), statement]

    def _new(self, place: Place) -> int:
        number, self._next = self._next, self._next + 1
        self.places[number] = place
        return number

    def _operands(self, node: ast.AST, number: int) -> None:
        """What a condition within an expression hides.

        Behind `and` and `or`, and in comprehensions, pyright looks at everything.
        """
        if isinstance(node, ast.IfExp):
            self._alternatives(node, (), number)
            return
        for name, value in cast("Iterator[tuple[str, object]]", ast.iter_fields(node)):
            parts = cast("list[object]", value) if isinstance(value, list) else [value]
            for part in parts if name not in _NOT_OPERANDS else ():
                if isinstance(part, (ast.expr, ast.withitem, ast.keyword)):
                    self._operands(part, number)

    def _alternatives(self, node: ast.IfExp, above: Sequence[_Change], number: int) -> None:
        exposing = [*above, partial(setattr, node, "test", _EITHER)]
        node.body = self._operand(node.body, exposing, number)
        node.orelse = self._operand(node.orelse, exposing, number)

    def _operand(self, part: ast.expr, exposing: Sequence[_Change], number: int) -> ast.expr:
        if isinstance(part, ast.IfExp):
            # Its own operands have probes; one more for each would nest a chain too deep.
            self._alternatives(part, exposing, number)
            return part
        self._operands(part, number)
        has_code = not isinstance(part, (ast.Constant, ast.Name))
        own = self._new(Place(part, part, number, exposing, has_code))
        pair = ast.Tuple([_reveal(ast.Constant(own)), part], ast.Load())
        return ast.Subscript(pair, ast.Constant(1), ast.Load())


def _reveal(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("reveal_type", ast.Load()), [value], [])


def _narrowness(node: ast.stmt | ast.expr) -> tuple[Position, int, int, bool]:
    line, column = _end(node)
    return _start(node), -line, -column, isinstance(node, ast.expr)


def _must_be_first(statement: ast.stmt) -> bool:
    """A docstring, say: no probe may stand before it."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.ImportFrom(module="__future__"):
            return True
        case _:
            return False


def _own_lines(statement: ast.stmt) -> set[int]:
    """Its lines, from 1, without those that only a block within it has."""
    lines = _lines(statement, statement)
    for block in _blocks(statement):
        lines -= _lines(block[0], block[-1])
    return lines | {statement.lineno}


def _lines(first: ast.stmt, last: ast.stmt) -> set[int]:
    return set(range(_start(first)[0] + 1, _end(last)[0] + 2))


def _start(node: ast.stmt | ast.expr) -> Position:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = [*decorators, node][0]
    return first.lineno - 1, first.col_offset


def _end(node: ast.stmt | ast.expr) -> Position:
    return (node.end_lineno or node.lineno) - 1, node.end_col_offset or 0


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    handlers: list[ast.AST] = getattr(statement, "handlers", [])
    cases: list[ast.AST] = getattr(statement, "cases", [])
    for node in (statement, *handlers, *cases):
        for name in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(node, name, [])
            if block:
                yield block


def _branches(statement: ast.stmt) -> list[ast.stmt]:
    """A statement, and the `elif`s of an `if`."""
    found = [statement]
    while True:
        match found[-1]:
            case ast.If(orelse=[ast.If() as other]):
                found.append(other)
            case _:
                return found


def _conditions(statement: ast.stmt) -> list[_Change]:
    """Changes after which every block of a statement, and what follows it, may be reached."""
    match statement:
        case ast.If() | ast.While():
            return [partial(setattr, branch, "test", _EITHER) for branch in _branches(statement)]
        case ast.Match():
            return [partial(setattr, statement, "subject", _ANY)]
        case _:
            return []


def _leaving_out(statement: ast.stmt, block: list[ast.stmt]) -> list[_Change]:
    """Changes after which what follows a statement is reached, whatever the statement does."""
    match statement:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            return [partial(setattr, statement, "value", _ANY)]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return []
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return []
        case _:
            return [partial(_leave_out, statement, block)]


def _leave_out(statement: ast.stmt, block: list[ast.stmt]) -> None:
    block[:] = [ast.Pass() if each is statement else each for each in block]


def _has_code(statement: ast.stmt) -> bool:
    """Whether a statement does more than honest code does where it should never come to."""
    match statement:
        case ast.Raise() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Break():
            return False
        case ast.Continue() | ast.Assert(test=ast.Constant()):
            return False
        case ast.Try() | ast.TryStar():
            return any(map(_has_code, chain.from_iterable(_blocks(statement))))
        case ast.Return(value=value) | ast.Expr(value=value):
            if isinstance(value, ast.Call):
                return "assert_never" not in ast.unparse(value.func)
            return value is not None and not isinstance(value, (ast.Constant, ast.Name))
        case _:
            return True
