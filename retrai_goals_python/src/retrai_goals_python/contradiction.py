"""Changes what tests expect: a project that gives real answers must fail them then.

In each test every assertion is turned into its contradiction, which honest code cannot meet where
it met the assertion, and the test is made to pass only when one of them holds all the same.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_goal_support import text_of

from .contradicted_assertion import contradict_assertion, contradict_expected_error
from .contradicted_values import definitions
from .python_source import parse, read_bytes

MAX_FAILED = 40
"""After so many contradictions have failed in one test, the rest of it is not run."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Where an assertion may be meant to fail, or its failure to be caught.
_EXPECTS_FAILURE = ("raises", "suppress", "warns", "fail")
_TRIED = """
try:
    _retrai_assertion()
except BaseException:
    _retrai_failed.append(0)
    if len(_retrai_failed) > 0:
        raise
else:
    return
"""


@dataclass(frozen=True, slots=True)
class OldAnswer:
    """Two values that an assertion found unequal before the run.

    Attributes:
        line, text: of the assertion.
        left, right: as Python writes them.
    """

    line: int
    text: str
    left: str
    right: str


def contradict_tests(
    root: Path,
    functions: Iterable[str],
    limit: int,
    *,
    far: bool = False,
    answers: Mapping[str, OldAnswer] | None = None,
) -> list[str]:
    """Change what each of the test functions expects; those in which something was changed.

    Args:
        root: the folder that the ids are relative to; its files are changed.
        functions: ids without parameters (`tests/test_a.py::TestB::test_c`), the first ones first.
        limit: how many to change at most.
        far: with values that are far from the expected ones; else with near ones.
        answers: by case, what the code answered before the run. An assertion that failed then
            expects that. One that passes still has the answer of before.
    """
    unequal: dict[str, dict[int, OldAnswer]] = {}
    for case, answer in (answers or {}).items():
        unequal.setdefault(case.partition("[")[0], {})[answer.line] = answer
    by_file: dict[str, list[str]] = {}
    for function in functions:
        by_file.setdefault(function.split("::", 1)[0], []).append(function)
    changed: list[str] = []
    for name, ids in by_file.items():
        if len(changed) >= limit or not name.endswith(".py"):
            continue
        found = dict(_changed_functions(root / name, ids, unequal, far=far))
        chosen = dict(list(found.items())[: limit - len(changed)])
        if chosen:
            _replace(root / name, chosen.values())
            changed += chosen
    return changed


def _changed_functions(
    path: Path, ids: list[str], unequal: Mapping[str, Mapping[int, OldAnswer]], *, far: bool
) -> Iterator[tuple[str, tuple[slice, str]]]:
    """By id, the lines of a function, counted from 0, and what takes their place."""
    source = read_bytes(path)
    tree, lines = parse(source), source.splitlines(keepends=True)
    for function in ids:
        node = _find(tree, function.split("::")[1:])
        if node is None:
            continue
        before = lines[node.lineno - 1][: node.col_offset]
        known = {
            number: (answer.left, answer.right)
            for number, answer in unequal.get(function, {}).items()
            if line_of(path, number) == answer.text  # else the run was let change the tests
        }
        text = _contradicted_function(node, _Rewriter(known, far=far))
        # A function that shares its line with something else is left as it is.
        if text and not before.strip():
            place = slice(node.lineno - 1, node.end_lineno)
            yield function, (place, textwrap.indent(text, before.decode()))


def line_of(path: Path, number: int) -> str:
    """One line of a file, from 1; empty where there is none."""
    lines = text_of(path).split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _contradicted_function(function: _Function, rewriter: _Rewriter) -> str:
    """The function without its decorators, changed; empty where nothing in it can be."""
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function)):
        return ""
    body = [found for statement in function.body for found in rewriter.rewrite(statement)]
    if not rewriter.changed:
        return ""
    first, last = ast.parse("_retrai_failed = []\nraise AssertionError").body
    function.body, function.decorator_list = [first, *body, last], []
    try:
        return ast.unparse(ast.fix_missing_locations(function))
    except (RecursionError, ValueError):
        return ""


class _Rewriter:
    """Contradicts the assertions of one function, and lets it end early only when one holds.

    Args:
        unequal: by line, two values that an assertion found unequal before the run.
        far: with values that are far from the expected ones.

    Attributes:
        changed: whether there were any.
    """

    def __init__(self, unequal: Mapping[int, Sequence[str]], *, far: bool) -> None:
        self.changed, self._unequal, self._far = False, unequal, far

    def rewrite(self, statement: ast.stmt) -> list[ast.stmt]:
        """What stands for one statement of the test."""
        if isinstance(statement, _NAMED):
            return [statement]
        if isinstance(statement, ast.Return):
            return ast.parse("raise AssertionError").body
        unequal = self._unequal.get(statement.lineno, ())
        changed = contradict_assertion(statement, far=self._far, unequal=unequal)
        if changed is not None:
            return self._tried(changed)
        if isinstance(statement, (ast.With, ast.AsyncWith)) and _expects_failure(statement):
            changed = contradict_expected_error(statement)
            return [_NoReturns().visit(statement)] if changed is None else self._tried(changed)
        if isinstance(statement, ast.Try) and statement.handlers:
            return [_NoReturns().visit(statement)]
        for field in ("body", "orelse", "finalbody"):
            inner: list[ast.stmt] = getattr(statement, field, [])
            if inner:
                setattr(statement, field, [new for old in inner for new in self.rewrite(old)])
        for case in statement.cases if isinstance(statement, ast.Match) else ():
            case.body = [new for old in case.body for new in self.rewrite(old)]
        return [statement]

    def _tried(self, changed: ast.stmt) -> list[ast.stmt]:
        self.changed = True
        tried = ast.parse(_TRIED.replace("> 0", f"> {MAX_FAILED}")).body[0]
        assert isinstance(tried, ast.Try)
        if not isinstance(changed, (ast.Assert, ast.Expr)) or _needs_its_function(changed):
            tried.body = [changed]
            return [tried]
        # An assertion that fails leaves references behind in its function: `assert ref() is None`
        # after it would find the object alive.
        alone = ast.parse("def _retrai_assertion(): pass").body[0]
        assert isinstance(alone, ast.FunctionDef)
        alone.body = [changed]
        return [alone, tried]


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


class _NoReturns(ast.NodeTransformer):
    """A test that ends early has shown nothing."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return ast.parse("raise AssertionError").body[0]

    def visit_FunctionDef(self, node: _Function) -> ast.stmt:
        return node  # its returns are its own

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast looks for


def _own_nodes(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function that belong to no other function in it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_NAMED, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _replace(path: Path, changes: Iterable[tuple[slice, str]]) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for place, text in sorted(changes, key=lambda change: -change[0].start):
        lines[place] = [f"{text}\n".encode()]
    path.write_bytes(b"".join(lines) + definitions())


def _find(tree: ast.Module, names: list[str]) -> _Function | None:
    """The function that a test id means: the last of its name, as Python takes it."""
    found: ast.Module | ast.ClassDef | _Function = tree
    for name in names:
        named = [node for node in found.body if isinstance(node, _NAMED) and node.name == name]
        if not named:
            return None
        found = named[-1]
    return found if isinstance(found, _Function) else None
