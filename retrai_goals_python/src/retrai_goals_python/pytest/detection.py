"""Recognizes a project that is tested with pytest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from retrai_core import Marker
from retrai_goal_support import project_files

PRIORITY = 20
TEST_FILES = ("test_*.py", "*_test.py")
"""pytest's own `python_files`."""
_IN_FOLDERS = (
    # A folder `tests` alone says nothing: it may hold another language's tests.
    *("tests/*.py", "test/*.py"),
    *("tests/*/test_*.py", "*/tests/test_*.py", "src/*/tests/test_*.py"),
)
PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
"""Files that configure pytest and nothing else."""
MARKERS = (
    *(Marker(name, priority=PRIORITY) for name in (*PYTEST_FILES, "conftest.py")),
    Marker("pyproject.toml", "pytest", PRIORITY),
    Marker("tox.ini", "[pytest]", PRIORITY),
    Marker("setup.cfg", "[tool:pytest]", PRIORITY),
    *(Marker(glob, priority=PRIORITY) for glob in (*TEST_FILES, *_IN_FOLDERS)),
)


def python_files(project: Path) -> Iterator[PurePosixPath]:
    """Relative paths of the project's Python files, without those of environments."""
    return (PurePosixPath(name) for name in project_files(project) if name.endswith(".py"))
