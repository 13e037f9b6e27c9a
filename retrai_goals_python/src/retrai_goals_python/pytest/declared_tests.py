"""Which files a project's own pytest configuration calls tests."""

from __future__ import annotations

import ast
import configparser
import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from ..configuration import pyproject, table, words
from ..environment.installed import normalized
from ..python_source import parse_file
from .detection import TEST_FILES
from .helper_modules import helper_globs

_SOURCE_ROOTS = ("src", "lib")
_TEST_FOLDERS = ("tests", "test")


def declared_tests(project: Path, base: str, targets: Sequence[str] = ()) -> list[str]:
    """Gitignore globs of what `testpaths`, `python_files` and the goal's targets name.

    A folder of tests counts with all that is in it. A package that is only searched for tests or
    doctests (`testpaths = ["src", "tests"]`) is what is to be fixed: of it, folders called `test`
    count, and modules that only help tests.

    Args:
        project: the project.
        base: where pytest is run in it: empty, or a folder with a slash at its end.
        targets: files, folders or test ids.
    """
    globs: list[str] = []
    called = [*TEST_FILES]
    for folders, patterns in (_configured(project), _configured(project / base)):
        called += patterns
        globs += _of_folders(project, base, folders, patterns)
        globs += [pattern for pattern in patterns if pattern.endswith(".py") and pattern != "*.py"]
    named = [target.partition("::")[0] for target in targets]
    return [*globs, *_of_folders(project, base, named, ()), *helper_globs(project, called)]


def _of_folders(
    project: Path, base: str, names: Iterable[str], patterns: Sequence[str]
) -> list[str]:
    globs: list[str] = []
    for name in filter(_is_plain, names):
        place = f"{base}{PurePosixPath(name)}"
        source = _is_source(project, project / place, patterns or TEST_FILES)
        globs.append(f"/{place}/**/test/" if source else f"/{place}")
    return globs


def _is_plain(name: str) -> bool:
    """A folder or file inside the project that does not hold all of it."""
    return bool(name.strip("./")) and ".." not in name.split("/") and not name.startswith("/")


def _is_source(project: Path, folder: Path, patterns: Sequence[str]) -> bool:
    """Whether the folder holds the sources: packages without a test file of their own, or modules
    in folders beside those of tests.

    The project's package, by its name, and `src` may have some beside their modules. A module that
    holds no test itself is searched for doctests alone.
    """
    if folder.is_file():
        if folder.suffix != ".py" or any(fnmatch(folder.name, pattern) for pattern in patterns):
            return False
        names = [str(getattr(node, "name", "")) for node in ast.walk(parse_file(folder))]
        return not any(name.lower().startswith("test") for name in names)
    if not folder.is_dir() or folder.name in _TEST_FOLDERS:
        return False
    if folder.name in _SOURCE_ROOTS or normalized(folder.name) in _names(project):
        return True
    has_package = has_module = has_tests = False
    for place, below, files in os.walk(folder):
        has_tests |= any(one in _TEST_FOLDERS for one in below)
        below[:] = [one for one in below if one not in _TEST_FOLDERS and not one.startswith(".")]
        if any(fnmatch(file, pattern) for file in files for pattern in patterns):
            return False
        has_package |= "__init__.py" in files
        modules = [one for one in files if one.endswith(".py") and one != "conftest.py"]
        has_module |= bool(modules) and place != str(folder)
    return has_package or (has_module and has_tests)


def _names(project: Path) -> set[str]:
    """What the project calls itself."""
    data = pyproject(project)
    tools = table(data.get("tool"))
    found = [table(data.get("project")).get("name"), table(tools.get("poetry")).get("name")]
    found.append(table(table(tools.get("flit")).get("module")).get("name"))
    found += [section.get("name") for section in _sections(project, {"setup.cfg": "metadata"})]
    return {normalized(name) for name in found if isinstance(name, str)}


def _configured(project: Path) -> tuple[list[str], list[str]]:
    """`testpaths` and `python_files` of the project's configuration files."""
    folders: list[str] = []
    patterns: list[str] = []
    pytest = table(table(pyproject(project).get("tool")).get("pytest"))
    names = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest"}
    files = _sections(project, {**names, "setup.cfg": "tool:pytest"})
    for section in (pytest, table(pytest.get("ini_options")), *files):
        folders += words(section.get("testpaths"))
        patterns += words(section.get("python_files"))
    return folders, patterns


def _sections(project: Path, wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """A section of each of some files, by the file's name; those that are there."""
    found: list[dict[str, Any]] = []
    for name, section in wanted.items():
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(project / name, "utf-8")
        except (configparser.Error, ValueError):
            continue
        if parser.has_section(section):
            found.append(dict(parser[section]))
    return found
