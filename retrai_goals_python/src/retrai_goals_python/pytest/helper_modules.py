"""Finds modules that only help tests and lie inside a package (`pkg/test/helpers.py`).

A folder called `test` or `testing` below a package may be its tests, or a part of what it gives its
users; a module `testing.py` likewise. What tests import, no source imports, and no test is named
after, is a helper.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath

from retrai_goal_support import text_of

from .detection import python_files

FOLDERS = frozenset({"test", "testing"})
MAX_FILES = 5_000
_TESTS = FOLDERS | {"tests"}
_SAYS_TEST = re.compile(r"^_?(?:testing|testlib|test(?:ing)?_?(?:utils?|helpers?))$|_for_tests?$")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import[ \t]*(?:\([^)]*\)|(?:[^\n#;\\]|\\\n)+)"
    r"|import[ \t][^\n#;]+)",
    re.MULTILINE,
)
_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


@dataclass(frozen=True)
class _Module:
    """One Python file, by its path relative to the project."""

    project: Path
    path: PurePosixPath

    @cached_property
    def imported(self) -> list[tuple[bool, set[str]]]:
        """Its import statements: whether each is relative, and its words."""
        statements: list[str] = _IMPORT.findall(text_of(self.project / self.path))
        return [("from ." in each, set(re.findall(r"\w+", each))) for each in statements]

    def imports(self, other: _Module) -> bool:
        """Whether it may import `other`: by its name alone beside it or relatively, elsewhere with
        that of its folder. Whoever lies in a package imports it."""
        beside = self.path.parent == other.path.parent
        is_package = other.path.name == "__init__.py"
        named = other.path.parent if is_package else other.path.with_suffix("")
        name, folder = named.name, named.parent.name
        return (is_package and beside) or any(
            name in words and (beside or relative or folder in words)
            for relative, words in self.imported
        )


def helper_globs(project: Path, patterns: Sequence[str]) -> list[str]:
    """Gitignore globs of the helper modules, one each; reads the project's files.

    Args:
        project: the project.
        patterns: what its test files are called.
    """
    modules = [_Module(project, path) for path in python_files(project)]
    if len(modules) > MAX_FILES:
        return []
    tests = [one for one in modules if _is_test(one.path, patterns)]
    known = {one.path for one in tests}
    folders = {_nearest(path) for path in known}
    candidates = [one for one in modules if one.path not in known and _may_help(one.path, folders)]
    known |= {one.path for one in candidates}
    sources = [one for one in modules if one.path not in known]
    # What a test file is named after.
    tested = {one.path.stem.removeprefix("test_").removesuffix("_test") for one in tests}
    helpers = [
        one
        for one in candidates
        if one.path.stem not in tested and not any(each.imports(one) for each in sources)
    ]
    found = _reached(tests, helpers)
    return ["/" + _SPECIAL.sub(r"\\\1", str(one.path)) for one in found]


def _reached(tests: Iterable[_Module], helpers: Sequence[_Module]) -> list[_Module]:
    """Those that tests import, and what those import in their turn."""
    left, found, pending = list(helpers), list[_Module](), list(tests)
    while pending:
        one = pending.pop()
        for helper in [each for each in left if one.imports(each)]:
            left.remove(helper)
            found.append(helper)
            pending.append(helper)
    return sorted(found, key=lambda one: one.path)


def _is_test(path: PurePosixPath, patterns: Sequence[str]) -> bool:
    return (
        any(fnmatch(path.name, pattern) for pattern in patterns)
        or path.name == "conftest.py"
        or "tests" in path.parts[:-1]
        or path.parts[0] == "test"
    )


def _nearest(path: PurePosixPath) -> PurePosixPath | None:
    """The innermost folder of tests that a file lies in, by its name."""
    return next((folder for folder in path.parents if folder.name in _TESTS), None)


def _may_help(path: PurePosixPath, folders: Collection[PurePosixPath | None]) -> bool:
    """A module whose name says so; or one in a folder `test` or `testing` that has test files."""
    if _SAYS_TEST.search(path.stem):
        return True
    nearest = _nearest(path)
    return nearest is not None and nearest.name in FOLDERS and nearest in folders
