"""The search's parts: suspicion, state, what may be edited, swapping code."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from retrai_llm_offline.worker.candidate import Edit
from retrai_llm_offline.worker.hotswap import (
    ImportNeededError,
    LiveFunctions,
    Patch,
    patches_for,
    restore,
)
from retrai_llm_offline.worker.project import Project, matches
from retrai_llm_offline.worker.ranking import only_takes_away
from retrai_llm_offline.worker.snippets import snippets
from retrai_llm_offline.worker.source import SourceFile, fit
from retrai_llm_offline.worker.spectra import Spectra
from retrai_llm_offline.worker.state_check import keeps_state


def test_a_line_that_only_failing_tests_run_is_the_most_suspicious() -> None:
    spectra = Spectra()
    spectra.add(0, {"a.py": [1, 2, 3]})
    spectra.add(1, {"a.py": [1, 2]})
    spectra.add(2, {"a.py": [1]})
    found = spectra.suspicion([0], [1, 2])
    assert found[("a.py", 3)] == 1.0
    assert found[("a.py", 3)] > found[("a.py", 2)] > found[("a.py", 1)]
    assert found[("a.py", 2)] == pytest.approx(0.5**0.5)


def test_failing_tests_that_share_no_line_are_no_group() -> None:
    spectra = Spectra()
    spectra.add(0, {"a.py": [1]})
    spectra.add(1, {"a.py": [1, 2]})
    spectra.add(2, {"b.py": [1]})
    assert spectra.groups([0, 1, 2]) == [[0, 1], [2]]
    assert spectra.targets([0, 1, 2], 2) == [0, 1] or spectra.targets([0, 1, 2], 2) == [0, 2]


@pytest.mark.parametrize(
    ("code", "keeps"),
    [
        ("TABLE = {'a': 1}\ndef f(k): return TABLE[k]\n", False),
        ("SEEN = []\ndef f(k): SEEN.append(k)\n", True),
        ("SEEN = {}\ndef f(k): SEEN[k] = 1\n", True),
        ("def f(k, seen=[]): seen.append(k)\n", True),
        ("def f(k): seen = []; seen.append(k)\n", False),
        ("COUNT = 0\ndef f():\n    global COUNT\n    COUNT += 1\n", True),
        ("class A:\n    known = {}\n    def f(self, k): self.known[k] = 1\n", True),
        ("def d(f):\n    c = {}\n    def g(k):\n        c[k] = f(k)\n    return g\n", True),
    ],
)
def test_what_outlives_a_call_is_noticed(code: str, keeps: bool) -> None:
    assert keeps_state(ast.parse(code)) is keeps


@pytest.mark.parametrize(
    ("path", "pattern", "meant"),
    [
        ("conftest.py", "conftest.py", True),
        ("a/b/conftest.py", "conftest.py", True),
        ("a/b.py", "/b.py", False),
        ("checks/a/b.py", "checks/**", True),
        ("checks/a/b.py", "checks/", True),
        ("x/checks/b.py", "x/**/b.py", True),
        ("src/a.py", "src/*.toml", False),
        ("src/a.py", "!src/a.py", False),
    ],
)
def test_protecting_globs_are_read_like_gitignore(path: str, pattern: str, meant: bool) -> None:
    assert matches(path, pattern) is meant


def test_tests_and_environments_are_no_source(tmp_path: Path) -> None:
    project = Project(str(tmp_path))
    names = ["a.py", "pkg/test_a.py", "tests/helper.py", ".venv/lib/x.py", "conftest.py", "a.txt"]
    kept = [name for name in names if not project.skipped(str(tmp_path.resolve() / name))]
    assert kept == ["a.py"]
    assert project.skipped("/elsewhere/a.py")


@pytest.mark.parametrize(
    ("code", "new", "expected"),
    [
        ("x = a * b", "c + d", "(c + d)"),
        ("x = a + b", "c * d", "c * d"),
        ("x = a - b", "c - d", "c - d"),
        ("x = a.b", "c + d", "(c + d)"),
        ("x = (a) * b", "c + d", "c + d"),
    ],
)
def test_parentheses_come_only_where_they_are_needed(code: str, new: str, expected: str) -> None:
    source = SourceFile("a.py", code)
    statement = source.tree.body[0]
    assert isinstance(statement, ast.Assign)
    value = statement.value
    left = value.left if isinstance(value, ast.BinOp) else getattr(value, "value", value)
    assert fit(source, left, new) == expected


def test_context_is_added_until_a_snippet_is_unique() -> None:
    before = "a = 1\nx\nb = 2\nx\nc = 3\n"
    ((old, new),) = snippets(before, "a = 1\nx\nb = 2\ny\nc = 3\n")
    assert (before.count(old), old.count("x")) == (1, 1)
    assert new == old.replace("x", "y")


CODE = """\
import functools


class Base:
    def who(self):
        return "base"


class Thing(Base):
    def who(self):
        return super().who() + "?"

    @property
    def twice(self):
        return self.__times(2)

    def __times(self, n):
        return n


def logged(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


@logged
def add(a, b):
    return a - b
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    path = tmp_path.resolve() / "things.py"
    path.write_text(CODE, "utf-8")
    spec = importlib.util.spec_from_file_location("things", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def swapped(module: ModuleType, old: str, new: str) -> tuple[LiveFunctions, list[Patch]]:
    path = str(module.__file__)
    source = SourceFile(path, CODE)
    start = CODE.index(old)
    patches = patches_for(source, [Edit(path, start, start + len(old), new)])
    assert patches is not None
    return LiveFunctions(str(Path(path).parent)), patches


@pytest.mark.parametrize(
    ("old", "new", "call", "before", "after"),
    [
        ("a - b", "a + b", "add(2, 1)", 1, 3),
        ('"?"', '"!"', "Thing().who()", "base?", "base!"),
        ("self.__times(2)", "self.__times(3)", "Thing().twice", 2, 3),
        ("return function(*args)", "return -function(*args)", "add(2, 1)", 1, -1),
    ],
)
def test_code_is_swapped_behind_decorators_and_in_classes_and_back(
    module: ModuleType, old: str, new: str, call: str, before: object, after: object
) -> None:
    live, patches = swapped(module, old, new)
    assert eval(call, vars(module)) == before
    undo = live.swap(patches)
    assert eval(call, vars(module)) == after
    restore(undo)
    assert eval(call, vars(module)) == before


def test_a_change_of_a_closure_asks_for_a_new_import(module: ModuleType) -> None:
    live, patches = swapped(module, "super().who()", "'nothing'")
    with pytest.raises(ImportNeededError):
        live.swap(patches)
    assert module.Thing().who() == "base?"


def test_a_change_outside_of_functions_is_no_patch(module: ModuleType) -> None:
    path = str(module.__file__)
    source = SourceFile(path, CODE)
    assert patches_for(source, [Edit(path, 0, 0, "import os\n")]) is None


@pytest.mark.parametrize(
    "changes",
    [
        [("n % 2 - 1", "n % 2")],
        [("sorted(xs)", "xs")],
        [("(a + b) * c", "a + b")],
        [(" and b", "")],
        [("a", "b"), ("b + a", "a")],
    ],
)
def test_what_only_takes_away_writes_nothing_anew(changes: list[tuple[str, str]]) -> None:
    assert only_takes_away(changes)


@pytest.mark.parametrize(
    "changes",
    [
        [("1.0", "-1.0")],
        [(" <= ", " < ")],
        [("10", "1")],
        [("' '", "''")],
        [("a - b", "b - a")],
        [("(a + b)", "a + b")],
        [("count - 1", "total")],
        [("a", "b")],
        [("", "if a:\n    return\n"), ("return b, c", "")],
    ],
)
def test_what_writes_something_anew_or_only_moves_it_does_not(
    changes: list[tuple[str, str]],
) -> None:
    assert not only_takes_away(changes)
