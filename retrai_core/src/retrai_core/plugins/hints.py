"""The hint list: which distribution provides a plugin that is not installed.

It is data of the `retrai` distribution, in entry-point groups that nobody loads:
`retrai.hints.markers` by a file at the project's root, and for some kinds of plugin one by name:
`retrai.hints.goals`, `retrai.hints.frontends`, ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .entry_points import lines_by_group
from .kinds import KINDS, Kind, normalised, table_of

_PREFIX = b"[retrai.hints."
_MARKERS = "retrai.hints.markers"


class Hints(NamedTuple):
    """Distributions by kind and name of plugin, and by marker."""

    plugins: Mapping[Kind, Mapping[str, str]] = MappingProxyType({})
    markers: Mapping[str, str] = MappingProxyType({})


def read_hints(entry_points: Iterable[bytes]) -> Hints:
    """The hints in `entry_points.txt` files; of two for one name the first is kept."""
    kinds: dict[str, Kind] = {f"retrai.hints.{table_of(kind)}": kind for kind in KINDS}
    plugins: dict[Kind, dict[str, str]] = {kind: {} for kind in KINDS}
    markers: dict[str, str] = {}
    for raw in entry_points:
        for group, _, line in lines_by_group(raw) if _PREFIX in raw else ():
            name, equals, dist = (part.strip() for part in line.partition("="))
            if group == _MARKERS:
                named = markers
            elif group in kinds:
                named = plugins[kinds[group]]
            else:
                continue
            if equals:
                named.setdefault(name, normalised(dist))
    return Hints(plugins, markers)
