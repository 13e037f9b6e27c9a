"""Globs in gitignore syntax, as goals and users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

# Where the fixed beginning of a glob ends.
_WILD = re.compile(r"[*?\[\\\s]")
# What comes before the only wild sign, a `*` in the last name, and what after it.
_ONE_STAR = re.compile(r"((?:/[^*?\[\\\s/]+)*/[^*?\[\\\s/]*)\*([^*?\[\\\s/]*)")


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
        # A goal may give thousands of plain paths (`/src/json.py`, `/src/json.*so`), which are
        # looked up instead of being tried one by one. Where a `!` takes something back, the order
        # counts.
        is_ordered = any(line.startswith("!") for line in lines)
        self._places: set[str] = set()
        self._ends: dict[str, set[str]] = {}
        others: list[str] = []
        for line in lines:
            if is_ordered or not line.startswith("/") or len(line) == 1:
                others.append(line)
            elif fixed_start(line) == line:
                self._places.add(line)
            elif split := _ONE_STAR.fullmatch(line):
                self._ends.setdefault(split[1], set()).add(split[2])
            else:
                others.append(line)
        self._others = GitIgnoreSpec.from_lines(others)
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
        if not within.isdisjoint(self._places):
            return True
        if self._ends and any(map(self._begins_and_ends, {place, *above})):
            return True
        return self._others.match_file(path)

    def _begins_and_ends(self, place: str) -> bool:
        first = place.rfind("/") + 1
        return any(
            place.endswith(tuple(self._ends[place[:at]]), at)
            for at in range(first, len(place) + 1)
            if place[:at] in self._ends
        )


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
