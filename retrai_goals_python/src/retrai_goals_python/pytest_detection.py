"""Recognizes a project that is tested with pytest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from retrai_core import Marker
from retrai_goal_support import project_files

PRIORITY = 20
TEST_FILES = ("test_*.py", "*_test.py")
"""pytest's own `python_files`."""
MARKERS = (
    *(
        Marker(glob, priority=PRIORITY)
        for glob in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "conftest.py")
    ),
    Marker("pyproject.toml", "pytest", PRIORITY),
    Marker("tox.ini", "[pytest]", PRIORITY),
    Marker("setup.cfg", "[tool:pytest]", PRIORITY),
    Marker("test_*.py", priority=PRIORITY),
    Marker("*_test.py", priority=PRIORITY),
    # A folder `tests` alone says nothing: it may hold another language's tests.
    Marker("tests/*.py", priority=PRIORITY),
    Marker("test/*.py", priority=PRIORITY),
    Marker("tests/*/test_*.py", priority=PRIORITY),
    Marker("*/tests/test_*.py", priority=PRIORITY),
    Marker("src/*/tests/test_*.py", priority=PRIORITY),
)


def python_files(project: Path) -> Iterator[PurePosixPath]:
    """Relative paths of the project's Python files, without those of environments."""
    return (PurePosixPath(name) for name in project_files(project) if name.endswith(".py"))
