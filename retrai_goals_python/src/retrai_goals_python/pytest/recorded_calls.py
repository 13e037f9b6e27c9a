"""Records the calls of tests into the project's own code, and makes them again without tests."""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from pydantic import Field

from retrai_core import RecordedCall
from retrai_goal_support import SavedModel, text_of

from ..contradiction import Failed
from ..contradiction.comparing_helpers import comparing_helpers
from ..diff_audit import is_test
from ..python_source import Definition, Function, imported, is_literal, literal, parse, parse_file
from .expected_values import NONDETERMINISTIC, ExpectedValues
from .run import PytestRun

BEFORE = "pytest_before.json"
"""In the run's folder: what the baseline check showed."""
MAX_SOURCE = 100_000
_NOT_ALONE = {"_pytest", "unittest", *NONDETERMINISTIC}
_MARK = "pytest.mark."
_PYTEST_SETTINGS = {"pytest.ini", ".pytest.ini"}
_NOT_IMPORTED = ("if __name__ == '__main__':", "sys.path.insert(", "sys.path.append(")
_SETS_STATE = {"monkeypatch", "mock", "mocker", "patch", "environ", "putenv", "setattr", "chdir"}


def recorded_calls(run: PytestRun, folder: Path) -> list[RecordedCall]:
    """The calls of a run that recorded them, case by case.

    Args:
        run: the run.
        folder: where it ran.
    """
    found: list[RecordedCall] = []
    plain_parts = cache(partial(_plain_parts, folder))
    for case, recorded in run.calls.items():
        path, _, rest = case.partition("::")
        tests, fixtures = plain_parts(path)
        is_plain = fixtures.issuperset(recorded.fixtures) and rest.split("[")[0] in tests
        calls = recorded.calls or ()
        if not recorded.asserted:
            # It missed a name, say: what it asked until then is not what it failed for.
            calls = calls if calls and calls[-1][1].startswith("raises ") else ()
        elif not calls:
            found.append(RecordedCall(case, "", ""))
        compared = _comparison(recorded.compared, folder, path)
        found += [
            RecordedCall(case, call, answer, again, is_plain, tuple(compared))
            for call, answer, again in calls
        ]
        outcome = "passes" if run.cases.get(case) == "passed" else "fails"
        is_alone = is_plain and recorded.asserted and not recorded.fixtures
        if is_alone and (again := _as_call(folder / path, rest, recorded.parameters)):
            found.append(RecordedCall(case, case, outcome, again, plain=True))
    return found


def _as_call(path: Path, test: str, parameters: Mapping[str, str]) -> str:
    """A test as a call that can be made outside; empty where the runner, the time or chance takes
    part in it, or it is no plain function, alone or in a class that sets nothing up."""
    name = test.partition("[")[0]
    source = text_of(path)
    if len(source) > MAX_SOURCE or not all(map(is_literal, parameters.values())):
        return ""
    tree = parse(source)
    modules = imported(tree)
    if modules & _NOT_ALONE or name not in _plain_functions(tree):
        return ""
    if "pytest" in modules:
        if not _take_out_marks(tree):
            return ""
        source = ast.unparse(tree)
    return f"test:{json.dumps([source, name, dict(parameters)])}"


def _plain_functions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) and not node.bases else ()
        methods = [one.name for one in inner if isinstance(one, Definition)]
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef) and all(one.startswith("test") for one in methods):
            yield from (f"{node.name}::{one}" for one in methods)


def _take_out_marks(tree: ast.Module) -> bool:
    """Take pytest out of a module of tests, if it uses no more of it than marks."""
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            decorators = node.decorator_list
            node.decorator_list = [d for d in decorators if not ast.unparse(d).startswith(_MARK)]
    tree.body = [one for one in tree.body if ast.unparse(one) != "import pytest"] or [ast.Pass()]
    return not any(isinstance(one, ast.Name) and one.id == "pytest" for one in ast.walk(tree))


def _plain_parts(folder: Path, path: str) -> tuple[set[str], set[str]]:
    """What in a file of tests only calls and compares: what it calls must answer the same
    everywhere.

    Returns:
        Test functions (`CLASS::NAME` in a class), none where the file, or a `conftest.py` above,
        does more than define; and the fixtures that can be used there and do no more either.
    """
    files = [*_conftests(folder, path), folder / path]
    if not all(map(_only_defines, files)):
        return set(), set()
    fixtures = {"request", "capsys", "capfd", "recwarn"}
    # From the outermost file inwards, since an inner fixture hides an outer one of its name.
    for tree in map(parse_file, files):
        for node in tree.body:
            if isinstance(node, Function) and _is_fixture(node):
                parameters = {argument.arg for argument in node.args.args}
                plain = parameters <= fixtures and _is_plain(node)
                (fixtures.add if plain else fixtures.discard)(node.name)
    return set(_plain_tests(parse_file(files[-1]))), fixtures


def _conftests(folder: Path, path: str) -> list[Path]:
    """The `conftest.py`s that count for a file of tests, from the outermost folder inwards."""
    above = [folder / parent / "conftest.py" for parent in reversed(Path(path).parents)]
    return [file for file in above if file.is_file()]


def _is_test_or_plain(node: ast.stmt) -> bool:
    """Of what stands in a class of tests; `setUp`, say, may make values."""
    if not isinstance(node, Definition) or node.name.startswith("test"):
        return True
    plain = all(ast.unparse(one) == "classmethod" for one in node.decorator_list)
    return isinstance(node, Function) and plain and _is_plain(node)


def _is_plain(function: Function) -> bool:
    """Whether it sets no state and enters no context."""
    enters = any(isinstance(part, (ast.With, ast.AsyncWith)) for part in ast.walk(function))
    return not enters and not _sets_state(function)


def _is_fixture(node: Function) -> bool:
    return any(ast.unparse(one).startswith("pytest.fixture") for one in node.decorator_list)


def _plain_tests(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, Function):
            if not _sets_state(node):
                yield node.name
        elif isinstance(node, ast.ClassDef) and all(map(_is_test_or_plain, node.body)):
            for inner in node.body:
                if isinstance(inner, Function) and not _sets_state(inner):
                    yield f"{node.name}::{inner.name}"


class BeforeRun(SavedModel):
    """What the baseline check of a run showed."""

    failed: list[str] = Field(default_factory=list)
    """Cases that did not pass."""
    passed: list[str] = Field(default_factory=list)
    assertions: dict[str, Failed] = Field(default_factory=dict)
    """By function, what its cases failed with in a file of the tests."""
    patches: list[str] = Field(default_factory=list[str])
    """Attributes of other modules that held code of the project."""

    @classmethod
    def of(cls, run: PytestRun, folder: Path) -> BeforeRun:
        """What a run of the whole suite showed, in the folder that it ran in."""
        assertions: dict[str, Failed] = {}
        expectations = ExpectedValues(folder)
        for failure in run.failures:
            function = failure.id.partition("[")[0]
            path, _, line = failure.location.rpartition(":")
            recorded = run.calls.get(failure.id)
            # The file alone is known of a fixture that is missing, say.
            is_known = line.isdecimal() and is_test(path) and not Path(path).is_absolute()
            if recorded is None or not is_known:
                continue
            known = assertions.setdefault(function, Failed(path, int(line)))
            compared = _comparison(recorded.compared, folder, path)
            if (known.path, known.line) == (path, int(line)) and len(compared) == 2:
                left, right = compared
                pairs = [*known.unequal, (left, right), (right, left)]
                expected = known.expected
                if failure.id == function:
                    answers = [answer for _, answer, _ in recorded.calls or ()]
                    files = [path, function.partition("::")[0]]
                    expected = [*expected, *expectations.among(compared, answers, files)]
                assertions[function] = replace(known, unequal=pairs, expected=expected)
        failed = [case for case, outcome in run.cases.items() if outcome != "passed"]
        passed = [case for case, outcome in run.cases.items() if outcome == "passed"]
        return cls(failed=failed, passed=passed, assertions=assertions, patches=list(patches(run)))


def _comparison(compared: Sequence[str], folder: Path, path: str) -> Sequence[str]:
    """The comparison that failed in a file of tests: `==` where a helper makes it, and none where
    its values are not plain."""
    values = [literal(each) for each in compared[:2] if is_literal(each)]
    # They equal nothing but themselves.
    plain = (int, float, str, bytes, list, tuple, dict, set, type(None))
    if len(values) != 2 or not all(isinstance(each, plain) for each in values):
        return ()
    name, file = compared[-1], folder / path
    is_helper = name.isidentifier() and name in comparing_helpers(folder, file, parse_file(file))
    return compared[:2] if is_helper else compared


def patches(run: PytestRun) -> dict[str, tuple[str, int]]:
    """What the project's code has replaced in other modules; each with the file and line of it.

    Args:
        run: one that recorded calls.
    """
    return {
        name: (path, line)
        for recorded in run.calls.values()
        for name, path, line in recorded.patches
    }


def import_paths(run: PytestRun, cwd: Path) -> list[str]:
    """Where the tests' modules were imported from; relative to `cwd` what lies in it."""
    recorded = list(run.calls.values())
    paths = recorded[-1].paths if recorded else ()
    return [os.path.relpath(one, cwd) if Path(one).is_relative_to(cwd) else one for one in paths]


def modules_of_tests(folder: Path, calls: Sequence[RecordedCall]) -> list[str]:
    """What the files of these tests, and the `conftest.py`s above them, import by absolute names.

    Args:
        folder: where the tests are run.
        calls: of the tests.
    """
    found: dict[str, None] = {}
    for path in dict.fromkeys(each.case.partition("::")[0] for each in calls if each.case):
        for file in (*_conftests(folder, path), folder / path):
            for node in ast.walk(parse_file(file)):
                if isinstance(node, ast.Import):
                    found |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found[node.module] = None
                    found |= dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names)
    return list(found)


def remove_tests(copy: Path) -> None:
    """Remove the code of tests and pytest's own settings from a copy, so that nothing looks like a
    run of them; what the project's code reads there stays."""
    for folder, _, files in os.walk(copy, topdown=False):
        below = Path(folder).relative_to(copy)
        for name in files:
            is_code = name.endswith(".py") and is_test(str(below / name))
            if is_code or str(below / name) in _PYTEST_SETTINGS:
                (Path(folder) / name).unlink()
        if files and not os.listdir(folder):
            Path(folder).rmdir()


def _only_defines(path: Path) -> bool:
    """Whether a file, when it is imported, makes values with Python's own means or pytest's, and
    changes nothing but the import path, which is the same where calls are played."""
    tree = parse_file(path)
    origins = _origins(tree)
    for node in tree.body:
        if isinstance(node, Definition):
            if path.name == "conftest.py" and node.name.startswith("pytest_"):
                return False
            run = node.decorator_list
        elif ast.unparse(node).startswith(_NOT_IMPORTED):
            continue
        else:
            run = [node]
        for part in run:
            if _sets_state(part) or not all(_is_harmless(one, origins) for one in _calls_in(part)):
                return False
            if any(isinstance(one, ast.Expr) for one in ast.walk(part)) and any(_calls_in(part)):
                return False
    return True


def _origins(tree: ast.Module) -> dict[str, str]:
    """The outermost module that each name of a file is from; `builtins` for its own classes and
    values, as far as they are made of nothing that the project has."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                module = (node.module or ".") if isinstance(node, ast.ImportFrom) else alias.name
                found[(alias.asname or alias.name).partition(".")[0]] = module.partition(".")[0]
    for node in tree.body:
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        used = [found.get(one.id, one.id) for one in names if isinstance(one.ctx, ast.Load)]
        origin = next((one for one in used if one in found.values() and not _is_known(one)), "")
        if isinstance(node, ast.ClassDef):
            found[node.name] = origin or "builtins"
        elif not isinstance(node, Definition):
            stored = [one.id for one in names if isinstance(one.ctx, ast.Store)]
            found.update(dict.fromkeys(stored, origin or "builtins"))
    return found


def _is_known(module: str) -> bool:
    return module in sys.stdlib_module_names or module == "pytest" or hasattr(builtins, module)


def _calls_in(node: ast.AST) -> Iterator[ast.expr]:
    """What is called there, and names used as decorators."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node
    yield from (part.func for part in ast.walk(node) if isinstance(part, ast.Call))


def _is_harmless(function: ast.expr, origins: Mapping[str, str]) -> bool:
    """Whether a function is Python's own or pytest's, or a method of a value."""
    while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
        function = function.func if isinstance(function, ast.Call) else function.value
    if not isinstance(function, ast.Name):
        return True
    return _is_known(origins.get(function.id, function.id))


def _sets_state(node: ast.AST) -> bool:
    return any(map(_is_of_state, ast.walk(node)))


def _is_of_state(node: ast.AST) -> bool:
    match node:
        case ast.Global() | ast.Nonlocal() | ast.Delete():
            return True
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) if (
            name in _SETS_STATE
        ):
            return True
        case ast.Attribute(ast.Name("self" | "cls")) | ast.Subscript(ast.Name("self" | "cls")):
            return False
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return True
        case _:
            return False
