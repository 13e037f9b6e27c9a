"""The hint list: which distribution provides a plugin that is not installed.

It is data of the `retrai` distribution, in entry-point groups that nobody loads:
`retrai.hints.markers` by a file at the project's root, and for some kinds of plugin one by name:
`retrai.hints.goals`, `retrai.hints.frontends`, ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .kinds import KINDS, Kind, normalised, table_of

_PREFIX = b"[retrai.hints."


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
        if _PREFIX not in raw:
            continue
        group: dict[str, str] | None = None
        for text in raw.decode("utf-8", "replace").splitlines():
            line = text.strip()
            if line.startswith("["):
                name = line.strip("[]").strip()
                kind = kinds.get(name)
                group = plugins[kind] if kind is not None else None
                group = markers if name == "retrai.hints.markers" else group
            elif group is not None and "=" in line and not line.startswith("#"):
                name, _, dist = line.partition("=")
                group.setdefault(name.strip(), normalised(dist.strip()))
    return Hints(plugins, markers)
