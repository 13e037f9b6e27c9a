"""Globs in gitignore syntax, as goals and users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

# Where the fixed beginning of a glob ends.
_WILD = re.compile(r"[*?\[\\\s]")


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
        # A goal may give thousands of plain paths (`/src/json.py`), which are looked up instead of
        # being tried one by one. Where a `!` takes something back, the order counts.
        if any(line.startswith("!") for line in lines):
            self._places: frozenset[str] = frozenset()
        else:
            self._places = frozenset(
                line
                for line in lines
                if line.startswith("/") and len(line) > 1 and fixed_start(line) == line
            )
        self._others = GitIgnoreSpec.from_lines(line for line in lines if line not in self._places)
        # Every check asks about every file again.
        self._known: dict[str, bool] = {}

    def match(self, path: str) -> bool:
        """Whether the relative path is one of those meant."""
        if path not in self._known:
            self._known[path] = self._decide(path)
        return self._known[path]

    def _decide(self, path: str) -> bool:
        place = f"/{path}"
        # A place stands for all that is below it; one that ends with `/` for nothing else.
        above = {place[:end] for end, sign in enumerate(place) if sign == "/"}
        within = {place, *above, *(f"{folder}/" for folder in above)}
        return not within.isdisjoint(self._places) or self._others.match_file(path)


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
