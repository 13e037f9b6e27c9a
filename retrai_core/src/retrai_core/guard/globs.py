"""Globs in gitignore syntax, as goals and users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec


class Globs:
    """A set of gitignore-style globs that relative paths are matched against.

    Example:
        >>> Globs(["tests/**", "conftest.py"]).match("pkg/conftest.py")
        True
        >>> Globs([]).match("anything")
        False
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._spec = GitIgnoreSpec.from_lines(patterns)
        # A goal may give a thousand globs, and every check asks about every file again.
        self._known: dict[str, bool] = {}

    def match(self, path: str) -> bool:
        """Whether the relative path is one of those meant."""
        if path not in self._known:
            self._known[path] = bool(self._spec.match_file(path))
        return self._known[path]


def exactly(path: str) -> str:
    """The glob that means this one relative path and no other.

    Example:
        >>> Globs([exactly("a[1].py")]).match("a[1].py"), Globs([exactly("a[1].py")]).match("a1.py")
        (True, False)
    """
    return "/" + re.sub(r"([\\*?\[\]! #])", r"\\\1", path)
