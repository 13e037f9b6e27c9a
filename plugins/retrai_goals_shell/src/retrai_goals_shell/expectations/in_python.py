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
_NO_LIMIT = re.compile(r"\b(?:abs|len)\([^()]*(?:\([^()]*\)[^()]*)*\) *[<>]=? *[\d.e-]+")
_MAY_MISS = re.compile(r"[<>]=? *(?:0?\.\d|[1-9])|\d *[<>]")
"""A script with such a limit may want only some of what it counts to be equal."""
_GIVES_UP = re.compile(r"assert|exit|fail|error|abort|die|bad|wrong|miss|problem", re.IGNORECASE)


def find_in_python(text: str) -> list[Expectation]:
    """The expectations; none where it is no Python.

    Example:
        >>> text = "for n, total in ((1, 2), (3, 6)):\\n    assert f(n) == total\\n"
        >>> [(each.literal, each.row) for each in find_in_python(text)]
        [('2', 0), ('6', 1)]
    """
    tree = parse_python(text)
    found = _Finder(text, tree).search(tree, {}) if tree else ()
    # A comparison is found in its assertion, and by itself.
    return list({each.start: each for each in found}.values())


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
        self._block_of: dict[ast.AST, ast.AST] = {}
        self._parameters: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls[node.func.id].append(node)
            elif isinstance(node, ast.Module | ast.FunctionDef):
                for each in (below for one in node.body for below in _evaluated(one)):
                    self._block_of[each] = node
        self._may_miss = _MAY_MISS.search(_NO_LIMIT.sub("", text)) is not None
        self._text, self._offset_of = text, offsets_in(text)
        self._tables = {
            target.id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                with_default = node.args.args[-len(node.args.defaults) :]
                defaults = zip(with_default, node.args.defaults, strict=False)
                self._tables |= {each.arg: default for each, default in defaults}

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
        if isinstance(node, ast.FunctionDef) and (_gives_up(node.body) or _is_predicate(node)):
            given = self._arguments(node)
            self._parameters |= given.keys()
            rows = {**rows, **given}
        for expected, other, tolerance in self._compared(node, rows):
            if _UNSURE.search(ast.unparse(other)):
                continue
            is_given = isinstance(expected, ast.Name) and expected.id in self._parameters
            if isinstance(node, ast.Compare) and not (is_given or isinstance(other, ast.Call)):
                continue
            if self._may_miss and isinstance(node, ast.Compare | ast.If):
                continue
            literals = rows.get(expected.id, ()) if isinstance(expected, ast.Name) else [expected]
            for row, literal in enumerate(literals):
                if _is_literal(literal):
                    start, end = self._span(literal)
                    text, left = self._text[start:end], self._span(other)
                    yield Expectation("python", start, end, text, left, row, tolerance)
        for below in ast.iter_child_nodes(node):
            if not _must_differ(node, below):
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
            # With None it is often left out.
            if all(each and _is_literal(each) and ast.unparse(each) != "None" for each in given):
                found[parameter.arg] = [each for each in given if each]
        return found

    def _rows(self, loop: ast.For | ast.comprehension) -> dict[str, list[ast.expr]]:
        """What each name of a loop over a table gets, where the table stands in the text."""
        if not isinstance(loop.target, ast.Tuple) or _passes_over_rows(loop):
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

    def _compared(
        self, node: ast.AST, rows: Mapping[str, Sequence[ast.expr]]
    ) -> Iterator[tuple[ast.expr, ast.expr, float]]:
        """What a node expects, what it compares with that, and how far away that may be."""
        pair: tuple[ast.expr, ast.expr] | None = None
        compared: ast.Compare | None = None
        equal, near = (ast.Eq, ast.Is), (ast.Lt, ast.LtE)
        goes_on = isinstance(node, ast.If) and not _gives_up(node.body)
        of_row_alone = goes_on or isinstance(node, ast.Compare)
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[one, two, *_])):
                pair = (one, two) if name in _EQUALS else None
            case (
                ast.Assert(test=ast.Compare() as compared)
                | ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as compared))
            ):
                pass
            case ast.If(test=ast.Compare() as compared):
                equal, near = (ast.NotEq, ast.IsNot), (ast.Gt, ast.GtE)
            case ast.Compare() as compared:
                equal, near = (ast.Eq, ast.NotEq), (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
            case _:
                pass
        tolerance = 0.0
        if compared and len(compared.ops) == 1:
            operator, limit = compared.ops[0], compared.comparators[0]
            if isinstance(operator, equal):
                pair = compared.left, limit
            elif isinstance(operator, near):
                tolerance = self._number(limit)
                pair = _distance(compared.left) if tolerance else None
        for expected, other in [] if pair is None else [pair, pair[::-1]]:
            from_row = isinstance(expected, ast.Name) and expected.id in rows
            if (from_row or (_is_literal(expected) and not of_row_alone)) and not (
                _is_literal(other) or (isinstance(other, ast.Name) and other.id in rows)
            ):
                yield expected, other, tolerance
                return

    def _number(self, node: ast.expr) -> float:
        if isinstance(node, ast.Name):
            node = self._tables.get(node.id, node)
        value = node.value if isinstance(node, ast.Constant) else 0
        return float(value) if isinstance(value, (int, float)) else 0.0

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


def _distance(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Call(
            func=ast.Name(id="abs"), args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]
        ):
            return left, right
        case _:
            return None


def _passes_over_rows(loop: ast.For | ast.comprehension) -> bool:
    """Whether a loop leaves some rows out before it calls anything."""
    match loop:
        case ast.For(body=[ast.If(test=test, body=[*_, ast.Continue()]), *_]):
            return not any(isinstance(each, ast.Call) for each in ast.walk(test))
        case _:
            return False


def _must_differ(statement: ast.AST, test: ast.AST) -> bool:
    """Whether a test fails where what it compares is equal."""
    match test:
        case ast.Compare(ops=[ast.NotEq()]):
            return isinstance(statement, ast.Assert)
        case ast.Compare(ops=[ast.Eq()]):
            return isinstance(statement, ast.If) and _gives_up(statement.body)
        case _:
            return False


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates once, but for what a block of it does."""
    match statement:
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Assert():
            yield from ast.walk(statement)
        case ast.If(test=test):
            yield from ast.walk(test)
        case _:
            pass


def _is_predicate(function: ast.FunctionDef) -> bool:
    """Whether a function ends with what it returns, a comparison say."""
    return isinstance(function.body[-1], ast.Return)


def _gives_up(body: Sequence[ast.stmt]) -> bool:
    """Whether a failure is raised, told, noted or counted there."""
    for node in (each for statement in body for each in ast.walk(statement)):
        match node:
            case ast.Raise() | ast.Assert():
                return True
            case ast.Call(func=func) if _GIVES_UP.search(ast.unparse(func)):
                return True
            case ast.Assign(value=ast.Constant(value=False)):
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
