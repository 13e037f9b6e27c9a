"""Reports each finding of an audit once, not again for copies of a file or other places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...contracts.goal import Suspicion
from ...storage.snapshots import Snapshots
from ...verification.unsnapshotted_files import as_added


def without_copied(
    found: Sequence[Suspicion], snapshots: Snapshots, audit: Callable[[str], Sequence[Suspicion]]
) -> list[Suspicion]:
    """The findings without those that a file has only as a copy of one that was there before.

    What makes the verdict suspect stays: code that was copied runs where it did not run before.

    Args:
        found: what the audit of the whole run found.
        snapshots: of the run.
        audit: the goal's.
    """
    told = {each.path for each in found if not each.reaches_runner}
    copies = snapshots.copies() if told else {}
    copies = {path: origin for path, origin in copies.items() if path in told}
    texts = snapshots.texts_before(set(copies.values())) if copies else {}
    usual = {
        path: {each.what for each in audit(as_added(origin, texts[origin]))}
        for path, origin in copies.items()
    }
    return [
        each for each in found if each.reaches_runner or each.what not in usual.get(each.path, ())
    ]


def each_once(found: Iterable[Suspicion]) -> list[list[Suspicion]]:
    """The findings by what was found, where that is only told; each that is suspect by itself."""
    groups: dict[object, list[Suspicion]] = {}
    for each in found:
        groups.setdefault(each if each.reaches_runner else each.what, []).append(each)
    return list(groups.values())
