"""Exact expectations in Python: `assert`, unittest's, `if found != expected: raise`, and tables."""

from __future__ import annotations

import ast
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from .expectation import Expectation

_EQUALS = frozenset(
    {"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual"}
)
_UNSURE = re.compile(r"fail|skip|flaky|retry|rerun|approx|almost|close|round|any\b", re.IGNORECASE)
_GIVES_UP = re.compile(r"exit|fail|error|abort|die|bad|wrong|miss|problem", re.IGNORECASE)


def find_in_python(text: str) -> list[Expectation]:
    """The expectations; none where it is no Python.

    Example:
        >>> text = "for n, total in ((1, 2), (3, 6)):\\n    assert f(n) == total\\n"
        >>> [(each.literal, each.row) for each in find_in_python(text)]
        [('2', 0), ('6', 1)]
    """
    tree = parse_python(text)
    return list(_Finder(text, tree).search(tree, {})) if tree else []


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree; None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def offsets_in(text: str) -> Callable[[int, int], int]:
    """Gives the place in a text of a line and a column, as the parser counts them."""
    data = text.encode()
    # A form feed ends no line.
    lines = [0, *accumulate(map(len, io.BytesIO(data)))]
    return lambda line, column: len(data[: lines[line - 1] + column].decode())


class _Finder:
    def __init__(self, text: str, tree: ast.Module) -> None:
        self._calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self._block_of: dict[ast.expr, ast.AST] = {}
        self._parameters: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls[node.func.id].append(node)
            elif isinstance(node, ast.Module | ast.FunctionDef):
                self._block_of |= {
                    each.value: node for each in node.body if isinstance(each, ast.Expr)
                }
        self._text, self._offset_of = text, offsets_in(text)
        self._tables = {
            target.id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def search(
        self, node: ast.AST, rows: Mapping[str, Sequence[ast.expr]]
    ) -> Iterator[Expectation]:
        """Those in a node and below it.

        Args:
            node: where.
            rows: the literals that a loop gives to a name, by that name.
        """
        if _may_fail(node):
            return
        for loop in _loops(node):
            rows = {**rows, **self._rows(loop)}
        if isinstance(node, ast.FunctionDef):
            given = self._arguments(node)
            self._parameters |= given.keys()
            rows = {**rows, **given}
        for expected, other, tolerance in _compared(node, rows):
            if _UNSURE.search(ast.unparse(other)):
                continue
            is_given = isinstance(expected, ast.Name) and expected.id in self._parameters
            if is_given and isinstance(node, ast.If) and not _gives_up(node.body):
                continue
            literals = rows.get(expected.id, ()) if isinstance(expected, ast.Name) else [expected]
            for row, literal in enumerate(literals):
                if _is_literal(literal):
                    start, end = self._span(literal)
                    text, left = self._text[start:end], self._span(other)
                    yield Expectation("python", start, end, text, left, row, tolerance)
        for below in ast.iter_child_nodes(node):
            yield from self.search(below, rows)

    def _arguments(self, function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
        """What each parameter of a function gets that is a literal in every call, where the calls
        are statements of one block."""
        calls = self._calls[function.name]
        blocks = {self._block_of.get(call) for call in calls}
        if len(blocks) != 1 or None in blocks:
            return {}
        found: dict[str, list[ast.expr]] = {}
        for place, parameter in enumerate(function.args.args):
            given = [_argument(call, place, parameter.arg) for call in calls]
            if all(each and _is_literal(each) for each in given):
                found[parameter.arg] = [each for each in given if each]
        return found

    def _rows(self, loop: ast.For | ast.comprehension) -> dict[str, list[ast.expr]]:
        """What each name of a loop over a table gets, where the table stands in the text."""
        if not isinstance(loop.target, ast.Tuple):
            return {}
        table = loop.iter
        match table:
            case ast.Call(func=ast.Attribute(value=whole, attr="items")):
                table = whole
            case _:
                pass
        if isinstance(table, ast.Name):
            table = self._tables.get(table.id, table)
        match table:
            case ast.Dict(keys=keys, values=values):
                rows = [[key, value] for key, value in zip(keys, values, strict=True) if key]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                rows = [e.elts for e in elements if isinstance(e, (ast.Tuple, ast.List))]
            case _:
                return {}
        width = len(loop.target.elts)
        return {
            name.id: [row[place] for row in rows]
            for place, name in enumerate(loop.target.elts)
            if isinstance(name, ast.Name) and all(len(row) == width for row in rows)
        }

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = self._offset_of(node.end_lineno, node.end_col_offset)
        return self._offset_of(node.lineno, node.col_offset), end


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call gives to a parameter; None where it is not known."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    return call.args[place] if place < len(call.args) else named.get(name)


def _may_fail(node: ast.AST) -> bool:
    """Whether what fails below need not fail the test."""
    match node:
        case ast.Try() | ast.TryStar():
            return True
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any("subTest" not in ast.unparse(item) for item in items)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return any(_UNSURE.search(ast.unparse(each)) for each in node.decorator_list)
        case _:
            return False


def _loops(node: ast.AST) -> Sequence[ast.For | ast.comprehension]:
    if isinstance(node, ast.For):
        return [node]
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
        return node.generators
    return ()


def _compared(
    node: ast.AST, rows: Mapping[str, Sequence[ast.expr]]
) -> Iterator[tuple[ast.expr, ast.expr, float]]:
    """What a node expects, what it compares with that, and how far away that may be."""
    pair: tuple[ast.expr, ast.expr] | None = None
    of_row_alone = isinstance(node, ast.If) and not _gives_up(node.body)
    tolerance = 0.0
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[one, two, *_])):
            pair = (one, two) if name in _EQUALS else None
        case (
            ast.Assert(test=ast.Compare(left=one, ops=[operator], comparators=[two]))
            | ast.If(test=ast.Compare(left=one, ops=[operator], comparators=[two]))
        ):
            fails = isinstance(node, ast.If)
            if isinstance(operator, (ast.NotEq, ast.IsNot) if fails else (ast.Eq, ast.Is)):
                pair = one, two
            elif isinstance(operator, (ast.Gt, ast.GtE) if fails else (ast.Lt, ast.LtE)):
                tolerance = _number(two)
                pair = _distance(one) if tolerance else None
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
            for expected, other in _in_comprehension(node, rows):
                yield expected, other, 0.0
        case _:
            pass
    for expected, other in [] if pair is None else [pair, pair[::-1]]:
        from_row = isinstance(expected, ast.Name) and expected.id in rows
        if (from_row or (_is_literal(expected) and not of_row_alone)) and not (
            _is_literal(other) or (isinstance(other, ast.Name) and other.id in rows)
        ):
            yield expected, other, tolerance
            return


def _distance(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Call(
            func=ast.Name(id="abs"), args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]
        ):
            return left, right
        case _:
            return None


def _number(node: ast.expr) -> float:
    value = node.value if isinstance(node, ast.Constant) else 0
    return float(value) if isinstance(value, (int, float)) else 0.0


def _in_comprehension(
    node: ast.GeneratorExp | ast.ListComp | ast.SetComp, rows: Mapping[str, Sequence[ast.expr]]
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`all(f(n) == total for n, total in TABLE)`, `[n for n, total in TABLE if f(n) != total]`."""
    for test in [node.elt, *(each for loop in node.generators for each in loop.ifs)]:
        match test:
            case ast.Compare(
                left=other,
                ops=[ast.Eq() | ast.NotEq()],
                comparators=[ast.Name(id=name) as expected],
            ) if name in rows and isinstance(other, ast.Call):
                yield expected, other
            case _:
                pass


def _gives_up(body: Sequence[ast.stmt]) -> bool:
    """Whether a failure is raised, told or counted there."""
    for node in (each for statement in body for each in ast.walk(statement)):
        match node:
            case ast.Raise():
                return True
            case ast.Call(func=func) if _GIVES_UP.search(ast.unparse(func)):
                return True
            case ast.AugAssign(target=target) if _GIVES_UP.search(ast.unparse(target)):
                return True
            case _:
                pass
    return False


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
