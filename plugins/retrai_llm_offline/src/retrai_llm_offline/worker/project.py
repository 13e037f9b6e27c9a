"""Which files of a project may be fixed, and which its tests are."""

from __future__ import annotations

import os
import re
from typing import Sequence

_SKIPPED_PARTS = frozenset(
    ".git .hg .tox .nox .venv venv .env .eggs node_modules site-packages dist-packages "
    "__pycache__".split()
)
_TEST_PARTS = frozenset(("test", "tests", "testing"))


class Project:
    """A project's folder; paths are real paths, `root` ends with the separator."""

    def __init__(self, root: str, protected: Sequence[str] = ()) -> None:
        self.root = os.path.join(os.path.realpath(root), "")
        self.protected = list(protected)

    def relative(self, path: str) -> str:
        """A path as the project knows it, with forward slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def skipped(self, path: str) -> bool:
        """Whether a file is not to be fixed: a test, an environment's, protected, or no Python."""
        if not path.startswith(self.root) or not path.endswith(".py"):
            return True
        relative = self.relative(path)
        *folders, name = relative.split("/")
        if _SKIPPED_PARTS.intersection(folders) or _TEST_PARTS.intersection(folders):
            return True
        if name in ("conftest.py", "tests.py") or name.startswith("test_"):
            return True
        if name.endswith("_test.py"):
            return True
        return any(matches(relative, pattern) for pattern in self.protected)


def matches(relative: str, pattern: str) -> bool:
    """Whether a path is one that a gitignore-style glob means; `!` patterns mean none here.

    >>> matches("pkg/conftest.py", "conftest.py"), matches("a/b.py", "/b.py")
    (True, False)
    >>> matches("checks/deep/x.py", "checks/**"), matches("checks/x.py", "checks/")
    (True, True)
    """
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    if not body or pattern.startswith("!"):
        return False
    expression = re.escape(body).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    expression = expression.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    start = "" if anchored else "(?:.*/)?"
    return re.fullmatch(start + expression + "(?:/.*)?", relative) is not None
