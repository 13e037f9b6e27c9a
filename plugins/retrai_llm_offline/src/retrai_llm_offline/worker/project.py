"""Which files of a project may be mended, and which its tests are."""

from __future__ import annotations

import fnmatch
import os
from typing import Sequence

_SKIPPED_PARTS = frozenset(
    ".git .hg .tox .nox .venv venv env .env node_modules site-packages dist-packages __pycache__ build dist .eggs".split()
)


class Project:
    """A project's folder; paths are real paths, `root` ends with the separator."""

    def __init__(self, root: str, protected: Sequence[str] = ()) -> None:
        self.root = os.path.join(os.path.realpath(root), "")
        self.protected = list(protected)

    def relative(self, path: str) -> str:
        """A path as the project knows it, with forward slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def skipped(self, path: str) -> bool:
        """Whether a file is none of the project's own source: tests, environments, what is protected."""
        if not path.startswith(self.root) or not path.endswith(".py"):
            return True
        relative = self.relative(path)
        parts = relative.split("/")
        if any(part in _SKIPPED_PARTS for part in parts):
            return True
        name = parts[-1]
        if name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py"):
            return True
        if any(part in ("tests", "test", "testing") for part in parts[:-1]):
            return True
        return any(fnmatch.fnmatch(relative, pattern) for pattern in self.protected)
