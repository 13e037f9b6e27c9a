"""What a pytest goal must not have changed under it, and what looks like a trick in a diff."""

from __future__ import annotations

import configparser
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from retrai_core import Suspicion

from .diff_audit import PYTHON_TRICKS, audit_added_lines

TESTS = ("tests/", "/test/", "test_*.py", "*_test.py", "conftest.py")
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
CONFIGURATION = (
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    ".coveragerc",
    "noxfile.py",
)
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
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "*.dist-info/",
    # A compiled file is believed as long as its time and size fit the source's.
    "*.pyc",
    "pyvenv.cfg",
)
RUNNER_MODULES = (
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "py",
    "pygments",
    "exceptiongroup",
    "tomli",
    "xdist",
    "execnet",
    "pytest_*",
    "coverage",
    "hypothesis",
    "_retrai_pytest_report",
    "_retrai_imports",
)
# Where a module is importable by its bare name: `python -m pytest` puts the current folder on the
# path, pytest the folders of test files without an __init__.py.
IMPORT_ROOTS = ("", "src/", "tests/")


def protected_globs(project: Path, path: str = ".", targets: Sequence[str] = ()) -> list[str]:
    """Gitignore globs of the tests, of what configures the runner, and of lock files.

    Folders and file patterns that the project's own pytest configuration names count as tests too.
    """
    base = "" if path == "." else f"{path}/"
    globs = [*TESTS, *EXPECTED, *CONFIGURATION, *LOCK_FILES]
    for folder, patterns in (_configured(project), _configured(project / path)):
        globs += [f"/{base}{name.strip('/')}" for name in folder if _is_plain(name)]
        globs += [pattern for pattern in patterns if pattern.endswith(".py") and pattern != "*.py"]
    for target in targets:
        name = target.partition("::")[0].strip("/")
        if _is_plain(name):
            globs.append(f"/{base}{name}")
    return list(dict.fromkeys(globs))


def steering_globs(path: str = ".") -> list[str]:
    """Gitignore globs of files that, when they are new, could steer pytest or Python itself."""
    base = "" if path == "." else f"{path}/"
    bases = dict.fromkeys(["", base])
    # `__main__` and `_private` are no names that a shadow would take; `test` is a folder of tests.
    standard = sorted(name for name in sys.stdlib_module_names if name[0] != "_" and name != "test")
    modules = [*RUNNER_MODULES, *standard]
    shadows = [
        f"/{base}{root}{module}{suffix}"
        for base in bases
        for root in IMPORT_ROOTS
        for module in modules
        # A compiled module is taken before a source of its name.
        for suffix in (".py", ".*so", "/__init__.*")
    ]
    return [*STEERING, *shadows]


def audit_diff(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, silence checkers or reach into the runner."""
    tricks = [*PYTHON_TRICKS]
    if project is not None:
        inside = re.compile(re.escape(f"{project}/") + r"(?:[^\"']*/)?tests?/")
        tricks.append((inside, "names a test file"))
    return audit_added_lines(diff, tricks, project)


def _is_plain(name: str) -> bool:
    """A folder or file inside the project that does not hold all of it."""
    return bool(name.strip("./")) and ".." not in name.split("/") and not name.startswith("/")


def _configured(project: Path) -> tuple[list[str], list[str]]:
    """`testpaths` and `python_files` of the project's configuration files."""
    folders: list[str] = []
    patterns: list[str] = []
    for section in (*_toml_sections(project), *_ini_sections(project)):
        folders += _words(section.get("testpaths"))
        patterns += _words(section.get("python_files"))
    return folders, patterns


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list):
        return [str(word) for word in cast("Iterable[object]", value)]
    return []


def _toml_sections(project: Path) -> list[dict[str, Any]]:
    try:
        data: object = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        # A missing or broken file configures nothing; pytest says what is wrong with it.
        return []
    section = _table(_table(data).get("tool")).get("pytest")
    return [_table(section), _table(_table(section).get("ini_options"))]


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _ini_sections(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, section in (
        ("pytest.ini", "pytest"),
        (".pytest.ini", "pytest"),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(project / name, "utf-8")
        except (configparser.Error, ValueError):
            continue
        if parser.has_section(section):
            found.append(dict(parser[section]))
    return found
