"""The hint list: which distribution would bring a goal that is not installed.

It is data of the `retrai` distribution, in two entry-point groups that nobody loads:
`retrai.hints.goals` by a goal's name, `retrai.hints.markers` by a file at the project's root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .kinds import normalised

_PREFIX = b"[retrai.hints."


class Hints(NamedTuple):
    """Distributions by goal and by marker."""

    goals: Mapping[str, str] = MappingProxyType({})
    markers: Mapping[str, str] = MappingProxyType({})


def read_hints(entry_points: Iterable[bytes]) -> Hints:
    """The hints in `entry_points.txt` files; of two for one name the first is kept."""
    found: dict[str, dict[str, str]] = {"retrai.hints.goals": {}, "retrai.hints.markers": {}}
    for raw in entry_points:
        if _PREFIX not in raw:
            continue
        group: dict[str, str] | None = None
        for text in raw.decode("utf-8", "replace").splitlines():
            line = text.strip()
            if line.startswith("["):
                group = found.get(line.strip("[]").strip())
            elif group is not None and "=" in line and not line.startswith("#"):
                name, _, dist = line.partition("=")
                group.setdefault(name.strip(), normalised(dist.strip()))
    return Hints(found["retrai.hints.goals"], found["retrai.hints.markers"])
