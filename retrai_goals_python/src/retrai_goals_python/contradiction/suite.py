"""Changes what tests expect: a project that gives real answers must fail them then.

In each test every assertion is turned into its contradiction, which honest code cannot meet where
it met the assertion, and the test is made to pass only when one of them holds all the same. It is
skipped where it reaches none of them.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..python_source import Definition, Function, Try, parse, read_bytes, replace_nodes
from .assertion import Unequal, contradict_assertion, contradict_expected_error
from .comparing_helpers import Helpers, comparing_helpers, with_comparison
from .values import definitions, noting_expected

MAX_FAILED = 40
"""After so many contradictions have failed in one test, the rest of it is not run."""

_Change = tuple[slice, str]
"""Lines of a file, counted from 0, and what takes their place."""
# Where an assertion may be meant to fail, or its failure to be caught.
_EXPECTS_FAILURE = ("raises", "suppress", "warns", "fail")
_AROUND = """
_retrai_failed, _retrai_raised, _retrai_seen = [], [], []
if not _retrai_failed:
    raise __import__("unittest").SkipTest("no comparison was reached")
if not _retrai_seen:
    return
if not _retrai_raised:
    raise AssertionError
"""
_CALL = "_retrai_assertion()"
_TRY = f"""
try:
    {_CALL}
except BaseException:
    {{}}
else:
    return
"""
_GO_ON = _TRY.format(
    f"_retrai_failed.append(0)\n    if len(_retrai_failed) > {MAX_FAILED}:\n        raise"
)
_SEEN = "_retrai_seen"
"""In a changed test, the expected values that it compared."""
_RAISE = _TRY.format("_retrai_failed.append(0)\n    _retrai_raised.append(0)\n    raise")
"""What is around the assertion must let its failure through."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What a test function failed with before the run.

    Attributes:
        path, line: where it failed.
        unequal: pairs of values that the assertion there found unequal. Where one of them is
            expected, the other one is put in its place: most often it is the old answer.
        expected: the compared values that the tests expect, as Python writes them; empty where
            that is not known. A test that passes must compare one of them there.
    """

    path: str = ""
    line: int = 0
    unequal: Unequal = ()
    expected: Sequence[str] = ()


def contradict_tests(
    root: Path,
    functions: Iterable[str],
    limit: int,
    *,
    far: bool = False,
    failed: Mapping[str, Failed] = MappingProxyType({}),
) -> list[str]:
    """Change what each of the test functions expects; those for which something was changed.

    The assertion that it failed with is contradicted in its place where that is in a nested
    function, or in a helper of the tests and none stands in the function itself.

    Args:
        root: the folder that the ids are relative to; its files are changed.
        functions: ids without parameters (`tests/test_a.py::TestB::test_c`), the first ones first.
        limit: how many to change at most.
        far: with values that are far from the expected ones; else with near ones.
        failed: what the functions failed with before the run, where it is known.
    """
    by_file: dict[str, list[str]] = {}
    for function in functions:
        by_file.setdefault(function.split("::", 1)[0], []).append(function)
    changes: dict[Path, list[_Change]] = {}
    changed: list[str] = []
    elsewhere: dict[tuple[str, int], list[str]] = {}
    for name, ids in by_file.items():
        if len(changed) >= limit or not name.endswith(".py"):
            continue
        found = dict(_changed_functions(root, name, ids, failed, far=far))
        chosen = dict(list(found.items())[: limit - len(changed)])
        changes[root / name] = list(chosen.values())
        changed += chosen
        for function in ids:
            if function in failed and function not in found:
                place = failed[function].path, failed[function].line
                elsewhere.setdefault(place, []).append(function)
    for (name, line), ids in elsewhere.items():
        every = [failed[function] for function in ids]
        known = all(one.expected for one in every)
        expected = [value for one in every for value in one.expected] if known else ()
        change = _changed_assertion(root / name, line, every[0].unequal, expected)
        there = changes.setdefault(root / name, [])
        if change and not any(one[0].start <= line - 1 < one[0].stop for one in there):
            there.append(change)
            changed += ids
    for path, those in changes.items():
        if those:
            _replace(path, those)
    return changed


def _changed_assertion(
    path: Path, line: int, unequal: Unequal, expected: Sequence[str] = ()
) -> _Change | None:
    """The assertion at a line of a nested function or of a helper, contradicted. With expected
    values it fails only where it compares one of them."""
    source = _utf8(path)
    for node in _always_reached(parse(source)):
        if node.lineno == node.end_lineno == line:
            other = contradict_assertion(node, unequal, far=True)
            if other is not None:
                whole = source.splitlines(keepends=True)[line - 1]
                start = ""
                noting = _with_notes(node, other, expected)
                if isinstance(noting, ast.Assert):
                    not_seen = ast.parse(f"not {_SEEN}", mode="eval").body
                    noting.test = ast.BoolOp(ast.Or(), [noting.test, not_seen])
                    other, start = noting, f"{_SEEN} = []; "
                text = start + ast.unparse(ast.fix_missing_locations(other))
                before, after = whole[: node.col_offset], whole[node.end_col_offset :]
                return slice(line - 1, line), f"{before.decode()}{text}{after.decode().rstrip()}"
    return None


def _always_reached(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that stand directly in a function, before anything could end it early."""
    for function in ast.walk(tree):
        if isinstance(function, Function):
            for statement in function.body:
                yield statement
                if any(isinstance(part, ast.Return | Try) for part in ast.walk(statement)):
                    break


def _changed_functions(
    root: Path, name: str, ids: list[str], failed: Mapping[str, Failed], *, far: bool
) -> Iterator[tuple[str, _Change]]:
    """What is changed in a file, by the function's id."""
    source = _utf8(root / name)
    tree, lines = parse(source), source.splitlines(keepends=True)
    helpers = comparing_helpers(root, root / name, tree)
    for function in ids:
        node = _find(tree, function.split("::")[1:])
        if node is None:
            continue
        before = lines[node.lineno - 1][: node.col_offset]
        known = failed.get(function, Failed())
        known = known if known.path == name else Failed()
        if _is_nested(node, known.line) and _changed_assertion(root / name, known.line, ()):
            continue  # what calls the nested function may swallow the failure
        text = _contradicted_function(node, _Rewriter(known, helpers, far=far))
        # A function that shares its line with something else is left as it is.
        if text and not before.strip():
            place = slice(node.lineno - 1, node.end_lineno)
            yield function, (place, textwrap.indent(text, before.decode()))


def _is_nested(function: Function, line: int) -> bool:
    """Whether a line of a function stands in another function within it."""
    inner = [n for n in ast.walk(function) if isinstance(n, Definition) and n is not function]
    return any(one.lineno <= line <= (one.end_lineno or 0) for one in inner)


def _contradicted_function(function: Function, rewriter: _Rewriter) -> str:
    """The function without its decorators, changed; empty where nothing in it can be."""
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function)):
        return ""
    body = [found for statement in function.body for found in rewriter.rewrite(statement)]
    if not rewriter.changed:
        return ""
    first, none_reached, none_seen, none_raised = ast.parse(_AROUND).body
    last = [none_reached, *([none_seen] if rewriter.takes_notes else []), none_raised]
    function.body, function.decorator_list = [first, *body, *last], []
    try:
        return ast.unparse(ast.fix_missing_locations(function))
    except (RecursionError, ValueError):
        return ""


class _Rewriter:
    """Contradicts the assertions of one function, and lets it end early only when one holds.

    Args:
        failed: what it failed with before the run.
        helpers: those that its file has.
        far: with values that are far from the expected ones.

    Attributes:
        changed: whether there were any.
        takes_notes: whether the test notes that it compared what is expected.
    """

    def __init__(self, failed: Failed, helpers: Helpers, *, far: bool) -> None:
        self.takes_notes = False
        self.changed, self._failed, self._helpers, self._far = False, failed, helpers, far
        self._try = _GO_ON

    def rewrite(self, statement: ast.stmt) -> list[ast.stmt]:
        """What stands for one statement of the test."""
        if isinstance(statement, Definition):
            return [statement]
        if isinstance(statement, ast.Return):
            return [_end_early()]
        failed_here = statement.lineno <= self._failed.line <= (statement.end_lineno or 0)
        unequal = self._failed.unequal if failed_here else ()
        compared = with_comparison(statement, self._helpers)
        changed = contradict_assertion(compared, unequal, far=self._far)
        if changed is not None:
            expected = self._failed.expected if failed_here else ()
            noting = _with_notes(compared, changed, expected)
            self.takes_notes = self.takes_notes or noting is not None
            return self._in_try(noting or changed)
        if isinstance(statement, (ast.With, ast.AsyncWith)) and _expects_failure(statement):
            changed = contradict_expected_error(statement)
            return [_without_returns(statement)] if changed is None else self._in_try(changed)
        if isinstance(statement, Try) and statement.handlers:
            return [_without_returns(statement)]
        outer = self._try
        if isinstance(statement, (ast.With, ast.AsyncWith)) and self._let_through(statement):
            self._try = _RAISE
        for field in ("body", "orelse", "finalbody"):
            inner: list[ast.stmt] = getattr(statement, field, [])
            if inner:
                setattr(statement, field, [new for old in inner for new in self.rewrite(old)])
        self._try = outer
        for case in statement.cases if isinstance(statement, ast.Match) else ():
            case.body = [new for old in case.body for new in self.rewrite(old)]
        return [statement]

    def _let_through(self, statement: ast.With | ast.AsyncWith) -> bool:
        """Whether a failure in there was one of the test before the run."""
        shown = " ".join(ast.unparse(item) for item in statement.items).lower()
        ends = statement.end_lineno or 0
        return "subtest" not in shown and statement.lineno < self._failed.line <= ends

    def _in_try(self, changed: ast.stmt) -> list[ast.stmt]:
        self.changed = True
        if not isinstance(changed, (ast.Assert, ast.Expr)) or _needs_its_function(changed):
            source = self._try.replace(_CALL, "pass")
        else:
            # An assertion that fails leaves references behind in its function: `assert ref() is
            # None` after it would find the object alive.
            source = f"def {_CALL}: pass{self._try}"
        tree = ast.parse(source)
        return replace_nodes(tree, lambda n: changed if isinstance(n, ast.Pass) else None).body


def _with_notes(original: ast.stmt, changed: ast.stmt, expected: Sequence[str]) -> ast.stmt | None:
    """The contradicted comparison, with its sides noted where they are expected.

    None where it evaluates no two sides: a literal is compared whenever the assertion is reached.
    """
    match original:
        case ast.Assert(test=ast.Compare(left=left, comparators=[right])):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_])) if (
            name.startswith("assert") and name.endswith("Equal")
        ):
            pass
        case _:
            return None
    evaluated = [each for each in ast.walk(changed) if not isinstance(each, ast.Starred)]
    if not expected or left not in evaluated or right not in evaluated:
        return None
    notes = {side: noting_expected(side, expected, _SEEN) for side in (left, right)}
    return replace_nodes(changed, lambda n: notes.get(n) if isinstance(n, ast.expr) else None)


def _needs_its_function(statement: ast.stmt) -> bool:
    """Whether it assigns a name or awaits something, and cannot stand in a function of its own."""
    return any(
        isinstance(node, (ast.NamedExpr, ast.Await))
        or (isinstance(node, ast.comprehension) and node.is_async)
        for node in ast.walk(statement)
    )


def _expects_failure(statement: ast.With | ast.AsyncWith) -> bool:
    shown = " ".join(ast.unparse(item.context_expr) for item in statement.items).lower()
    return any(word in shown for word in _EXPECTS_FAILURE)


def _end_early() -> ast.stmt:
    """What stands for `return`: a test that ends early has shown nothing."""
    return ast.parse("raise AssertionError").body[0]


def _without_returns(statement: ast.stmt) -> ast.stmt:
    def other(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Return):
            return _end_early()
        return node if isinstance(node, Function) else None  # its returns are its own

    return replace_nodes(statement, other)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function that belong to no other function in it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _utf8(path: Path) -> bytes:
    """The source of a file; empty where it is in another encoding, whose places are not bytes."""
    source = read_bytes(path)
    try:
        source.decode()
    except UnicodeDecodeError:
        return b""
    return source


def _replace(path: Path, changes: Iterable[_Change]) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for place, text in sorted(changes, key=lambda change: -change[0].start):
        lines[place] = [f"{text}\n".encode()]
    path.write_bytes(b"".join(lines) + definitions())


def _find(tree: ast.Module, names: list[str]) -> Function | None:
    """The function that a test id means: the last of its name, as Python takes it."""
    found: ast.Module | Definition = tree
    for name in names:
        named = [each for each in found.body if isinstance(each, Definition) and each.name == name]
        if not named:
            return None
        found = named[-1]
    return found if isinstance(found, Function) else None
