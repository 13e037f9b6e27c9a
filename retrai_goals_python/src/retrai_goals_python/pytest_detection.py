"""Recognizes a project that is tested with pytest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from retrai_core import Marker

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
NOT_OURS = {"node_modules", "site-packages", "venv", "build", "dist", "__pycache__"}
MAX_ENTRIES = 5000
MAX_DEPTH = 5


def files_called(project: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Relative paths of files with such names, those in `tests/` first.

    Only so many entries are looked at.
    """
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
