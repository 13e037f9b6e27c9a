"""What the tools of a run have shown, by file and line. Kept in the run's folder, so that a resumed
run has it."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self, cast

from .found import Place

FILE = "research-evidence.json"

Ranges = dict[str, list[list[int]]]
"""The first and last line of each range, by path."""


class Evidence:
    """Ranges of lines, by file; overlapping and adjacent ones are joined.

    Example:
        >>> evidence = Evidence()
        >>> evidence.add([Place("a.py", 1, 4), Place("a.py", 5, 9)])
        >>> evidence.covers(Place("a.py", 3, 8)), evidence.covers(Place("a.py", 9, 10))
        (True, False)
    """

    def __init__(self, ranges: Ranges | None = None) -> None:
        self._ranges: Ranges = {}
        for path, given in (ranges or {}).items():
            self.add(Place(path, start, end) for start, end in given)

    @classmethod
    def parse(cls, value: object) -> Self:
        """From JSON; what has another form counts as nothing."""
        found = cls()
        items = cast("Mapping[object, object]", value).items() if isinstance(value, Mapping) else ()
        for path, ranges in items:
            for each in cast("list[Any]", ranges) if isinstance(ranges, list) else []:
                try:
                    start, end = (int(number) for number in each)
                except (TypeError, ValueError):
                    continue
                found.add([Place(str(path), start, end)])
        return found

    @classmethod
    def load(cls, folder: Path) -> Self:
        """That of a run, by the run's folder."""
        try:
            return cls.parse(json.loads((folder / FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return cls()

    def save(self, folder: Path) -> None:
        """Write it whole, so that a kill leaves the old file or the new one."""
        part = folder / f"{FILE}.part"
        text = json.dumps(self.as_json(), ensure_ascii=False)
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(folder / FILE)

    def add(self, places: Iterable[Place]) -> None:
        """Note more."""
        for place in places:
            if place.start < 1 or place.end < place.start:
                continue
            known = [*self._ranges.get(place.path, []), [place.start, place.end]]
            joined: list[list[int]] = []
            for start, end in sorted(known):
                if joined and start <= joined[-1][1] + 1:
                    joined[-1][1] = max(joined[-1][1], end)
                else:
                    joined.append([start, end])
            self._ranges[place.path] = joined

    def covers(self, place: Place) -> bool:
        """Whether every line of it was shown."""
        ranges = self._ranges.get(place.path, [])
        at = bisect_right(ranges, place.start, key=lambda each: each[0]) - 1
        return at >= 0 and ranges[at][0] <= place.start and place.end <= ranges[at][1]

    def of(self, paths: Iterable[str]) -> Evidence:
        """The part that is of these files."""
        return Evidence({path: self._ranges[path] for path in paths})

    @property
    def paths(self) -> list[str]:
        """The files of which something was shown."""
        return sorted(self._ranges)

    def as_json(self) -> Ranges:
        """For the record."""
        return {path: [list(each) for each in ranges] for path, ranges in self._ranges.items()}
