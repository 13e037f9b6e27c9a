"""Globs in gitignore syntax, as goals and users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

# Where the fixed beginning of a glob ends.
_WILD = re.compile(r"[*?\[\\ ]")


class Globs:
    """A set of gitignore-style globs that relative paths are matched against.

    Example:
        >>> Globs(["tests/**", "conftest.py"]).match("pkg/conftest.py")
        True
        >>> Globs([]).match("anything")
        False
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        lines = list(patterns)
        # Where no `!` takes anything back, the order says nothing, and of the thousands that a goal
        # may give (`/src/json.py`) only those are tried that begin like the path.
        plain = not any(line.startswith("!") for line in lines)
        self._others = GitIgnoreSpec.from_lines(
            line for line in lines if not (plain and line.startswith("/"))
        )
        self._anchored: dict[str, list[str]] = {}
        for line in lines if plain else ():
            if line.startswith("/"):
                self._anchored.setdefault(fixed_start(line[1:]), []).append(line)
        # Every check asks about every file again.
        self._known: dict[str, bool] = {}

    def match(self, path: str) -> bool:
        """Whether the relative path is one of those meant."""
        if path not in self._known:
            self._known[path] = self._decide(path)
        return self._known[path]

    def _decide(self, path: str) -> bool:
        if self._others.match_file(path):
            return True
        begin_alike = (self._anchored.get(path[:end], ()) for end in range(len(path) + 1))
        lines = [line for lines in begin_alike for line in lines]
        return bool(lines) and bool(GitIgnoreSpec.from_lines(lines).match_file(path))


def fixed_start(glob: str) -> str:
    """What every path begins with that a glob means; all of it where nothing in it is wild.

    Example:
        >>> fixed_start("tests/unit_*.py")
        'tests/unit_'
    """
    return _WILD.split(glob, maxsplit=1)[0]


def exactly(path: str) -> str:
    """The glob that means this one relative path and no other.

    Example:
        >>> Globs([exactly("a[1].py")]).match("a[1].py"), Globs([exactly("a[1].py")]).match("a1.py")
        (True, False)
    """
    return "/" + re.sub(r"([\\*?\[\]! #])", r"\\\1", path)
