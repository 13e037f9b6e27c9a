"""Recognizes a project that is tested with pytest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from retrai_core import Marker

PRIORITY = 20
TEST_FILES = ("test_*.py", "*_test.py")
MARKERS = (
    Marker("pytest.ini", priority=PRIORITY),
    Marker(".pytest.ini", priority=PRIORITY),
    Marker("pytest.toml", priority=PRIORITY),
    Marker(".pytest.toml", priority=PRIORITY),
    Marker("pyproject.toml", "[tool.pytest.ini_options]", PRIORITY),
    Marker("pyproject.toml", "[tool.pytest]", PRIORITY),
    Marker("pyproject.toml", "pytest", PRIORITY),
    Marker("tox.ini", "[pytest]", PRIORITY),
    Marker("setup.cfg", "[tool:pytest]", PRIORITY),
    Marker("conftest.py", priority=PRIORITY),
    Marker("test_*.py", priority=PRIORITY),
    Marker("*_test.py", priority=PRIORITY),
    # A folder `tests` alone says nothing: it may hold another language's tests.
    Marker("tests/*.py", priority=PRIORITY),
    Marker("test/*.py", priority=PRIORITY),
    Marker("tests/test_*.py", priority=PRIORITY),
    Marker("tests/*_test.py", priority=PRIORITY),
    Marker("tests/*/test_*.py", priority=PRIORITY),
    Marker("test/test_*.py", priority=PRIORITY),
    Marker("*/tests/test_*.py", priority=PRIORITY),
    Marker("src/*/tests/test_*.py", priority=PRIORITY),
)
CONFIGURATIONS = (
    ("pytest.toml", re.compile(r"", re.MULTILINE), "pytest.toml"),
    (".pytest.toml", re.compile(r"", re.MULTILINE), ".pytest.toml"),
    ("pytest.ini", re.compile(r"", re.MULTILINE), "pytest.ini"),
    (".pytest.ini", re.compile(r"", re.MULTILINE), ".pytest.ini"),
    (
        "pyproject.toml",
        re.compile(r"^\s*\[\s*tool\.pytest(?:\.ini_options)?\s*\]", re.MULTILINE),
        "pyproject.toml: [tool.pytest.ini_options]",
    ),
    ("tox.ini", re.compile(r"^\[pytest\]", re.MULTILINE), "tox.ini: [pytest]"),
    ("setup.cfg", re.compile(r"^\[tool:pytest\]", re.MULTILINE), "setup.cfg: [tool:pytest]"),
)
_NAMED = re.compile(r"\bpytest\b")
NOT_OURS = {"node_modules", "site-packages", "venv", "build", "dist", "__pycache__"}
MAX_ENTRIES = 5000
MAX_DEPTH = 5


def find_evidence(project: Path) -> str:
    """What shows that pytest tests this project (`tests/test_api.py`); empty for nothing.

    A configuration section and a conftest.py count by themselves, and so does the word pytest in
    pyproject.toml; a folder only when a file of Python lies in it.
    """
    for name, section, evidence in CONFIGURATIONS:
        text = _read(project / name)
        if text is not None and section.search(text):
            return evidence
    if found := next(test_files(project), ""):
        return found
    if (project / "conftest.py").is_file():
        return "conftest.py"
    if _NAMED.search(_read(project / "pyproject.toml") or ""):
        return "pyproject.toml: pytest"
    return next((path for path in files_called(project, ("*.py",)) if _in_tests(path)), "")


def test_files(project: Path) -> Iterator[str]:
    """Relative paths of test files, those in `tests/` first; only so many entries are looked at."""
    return files_called(project, TEST_FILES)


def files_called(project: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Relative paths of files with such names, as `test_files` finds them."""
    looked_at = 0
    waiting = ["tests", "test", ""]
    seen: set[str] = set()
    while waiting:
        folder = waiting.pop(0)
        if folder in seen:
            continue
        seen.add(folder)
        try:
            with os.scandir(project / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            # A folder that is not there or cannot be read holds no evidence.
            continue
        for entry in found:
            looked_at += 1
            if looked_at > MAX_ENTRIES:
                return
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in NOT_OURS and not entry.name.startswith("."):
                    waiting.append(path)
            elif any(fnmatch(entry.name, pattern) for pattern in patterns):
                yield path
        waiting = [path for path in waiting if path.count("/") < MAX_DEPTH]


def _in_tests(path: str) -> bool:
    return path.startswith(("tests/", "test/"))


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None
