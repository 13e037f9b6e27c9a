"""Reports each finding of an audit once, with all its places."""

from __future__ import annotations

from collections.abc import Iterable

from ...contracts.goal import Suspicion


def each_once(found: Iterable[Suspicion]) -> list[list[Suspicion]]:
    """The findings by what was found, where that is only told; each that is suspect by itself."""
    groups: dict[object, list[Suspicion]] = {}
    for each in found:
        groups.setdefault(each if each.reaches_runner else each.what, []).append(each)
    return list(groups.values())
