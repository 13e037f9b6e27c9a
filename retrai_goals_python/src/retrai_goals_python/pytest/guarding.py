"""What a pytest goal must not have changed under it, and what looks like a trick in a diff."""

from __future__ import annotations

import ast
import doctest
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import changed_files

from ..diff_audit import NAMES_TEST, PYTHON_TRICKS, audit_added_lines, sign
from ..environment.runner_files import RUNNER_MODULES, is_standard
from ..python_source import Definition, parse
from .declared_tests import declared_tests
from .detection import PYTEST_FILES, TEST_FILES

TESTS = ("tests/", "/test/", *TEST_FILES, "conftest.py")
# What tests compare with, wherever it lies.
EXPECTED = (
    "testdata/",
    "test_data/",
    "test-data/",
    "/fixtures/",
    "__snapshots__/",
    "__image_snapshots__/",
    "*.golden",
    "*.snap",
    "*.ambr",
    "*.approved.*",
    "*.expected",
)
STEERS_PYTEST = (*PYTEST_FILES, "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc")
LOCK_FILES = (
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "pylock*.toml",
    "requirements*.txt",
    "constraints*.txt",
)
STEERING = (
    "conftest.py",
    *STEERS_PYTEST,
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    # The import system takes them in any case.
    "*.[dD][iI][sS][tT]-[iI][nN][fF][oO]/",
    "*.EGG-INFO/",
    # A compiled file is believed as long as its time and size fit the source's.
    "*.pyc",
    "pyvenv.cfg",
)
_LIBRARY = re.compile(
    r"^Binary files .* and \"?b/(\S+\.(?:so|pyd|dll|dylib)[.\d]*)\"? differ$", re.MULTILINE
)
_COMPILED_FROM = {".c", ".cc", ".cpp", ".cxx", ".m", ".pyx", ".rs", ".go", ".f", ".f90", ".zig"}
# Where a module is importable by its bare name: `python -m pytest` puts the current folder on the
# path, pytest the folders of test files without an __init__.py.
IMPORT_ROOTS = ("", "src/", "tests/")


def protected_globs(project: Path, path: str = ".", targets: Sequence[str] = ()) -> list[str]:
    """Gitignore globs of the tests, of what configures the runner, and of lock files.

    What the project's own pytest configuration calls tests counts too.
    """
    base = "" if path == "." else f"{path}/"
    usual = [*TESTS, *EXPECTED, *STEERS_PYTEST, "noxfile.py", *LOCK_FILES]
    return list(dict.fromkeys([*usual, *declared_tests(project, base, targets)]))


def steering_globs(path: str = ".") -> list[str]:
    """Gitignore globs of files that, when they are new, could steer pytest or Python itself."""
    standard = sorted(filter(is_standard, sys.stdlib_module_names))
    shadows = [
        f"/{base}{root}{module}{suffix}"
        for base in ([""] if path == "." else ["", f"{path}/"])
        for root in IMPORT_ROOTS
        for module in (*RUNNER_MODULES, *standard)
        # A compiled module is taken before a source of its name.
        for suffix in (".py", ".*so", "/__init__.*")
    ]
    return [*STEERING, *shadows]


def audit_diff(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, silence checkers or reach into the runner.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
    """
    tricks = [*PYTHON_TRICKS]
    if project is not None:
        tricks.append(sign(re.escape(f"{project}/") + r"(?:[^\"']*/)?tests?/", NAMES_TEST))
    found = audit_added_lines(diff, tricks, project)
    return [*found, *_libraries_without_source(diff, project)]


def _libraries_without_source(diff: str, project: Path | None) -> Iterator[Suspicion]:
    """Compiled code that cannot be looked through, and that the project has no source of."""
    if project is None or not (libraries := _LIBRARY.findall(diff)):
        return
    if not any(path.suffix in _COMPILED_FROM for path in project.rglob("*")):
        for path in libraries:
            yield Suspicion(path, 1, "is compiled code without a source", reaches_runner=True)


def changed_examples(diff: str, project: Path, holding: Collection[str]) -> Iterator[Suspicion]:
    """One finding for each file in which an example (`>>> f(1)`) is gone, or expects other output.

    What an example says is what its case checks: to change it is to change a test. New examples,
    and those that only move within their file, are nothing.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        holding: files, relative, whose text the runner takes examples from.
    """
    for path, before, now in changed_files(diff, project):
        if path not in holding:
            continue
        gone = Counter(_examples(path, before)) - Counter(_examples(path, now))
        if gone:
            source = next(iter(gone))[0].strip().partition("\n")[0]
            what = f"changes an example that is a test: {source[:100]}"
            yield Suspicion(path, 1, what, reaches_runner=True)


def _examples(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The source and the expected output of every example."""
    parser = doctest.DocTestParser()
    for part in _docstrings(text) if path.endswith(".py") else [text]:
        try:
            examples = parser.get_examples(part)
        except ValueError:
            continue  # no case was ever made of it
        yield from ((example.source, example.want) for example in examples)


def _docstrings(text: str) -> list[str]:
    nodes = [n for n in ast.walk(parse(text)) if isinstance(n, Definition | ast.Module)]
    return [found for node in nodes if (found := ast.get_docstring(node))]
