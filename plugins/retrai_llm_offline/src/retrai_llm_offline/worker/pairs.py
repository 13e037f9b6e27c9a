"""Two edits together, where one is not enough: which pairs to try, the likeliest first."""

from __future__ import annotations

from typing import Iterator, Sequence

from .bench import Detail
from .candidate import Candidate, combine, compatible

FIRSTS, SECONDS = 4, 300
PARTIAL, MIXED, WITH_ANY = 24, 16, 10
PLAIN_COST, PLAIN = 2.2, 700
PLAINEST_COST, PLAINEST = 1.75, 500


def pairs_with(firsts: Sequence[Detail], singles: Sequence[Candidate]) -> Iterator[Candidate]:
    """Each of a few edits that fix most of the tests, with the edits that come first."""
    for first in firsts[:FIRSTS]:
        yield from _with_each(first.candidate, singles[:SECONDS])


def likely_pairs(
    partial: Sequence[Detail], mixed: Sequence[Detail], singles: Sequence[Candidate]
) -> Iterator[Candidate]:
    """Pairs of edits that each do something, then those with any plain edit, then any two.

    Args:
        partial: edits that fix some tests and break none.
        mixed: edits that fix some tests and break others.
        singles: every edit, the plainest first.
    """
    halves = sorted(partial, key=lambda d: (-len(d.fixed), d.candidate.cost))[:PARTIAL]
    halves += sorted(mixed, key=lambda d: (len(d.broken) - len(d.fixed), d.candidate.cost))[:MIXED]
    for index, first in enumerate(halves):
        for second in halves[index + 1 :]:
            apart = first.fixed - second.fixed and second.fixed - first.fixed
            if apart or first.broken or second.broken:
                yield from _with_each(first.candidate, [second.candidate])
    plain = [single for single in singles if single.cost <= PLAIN_COST][:PLAIN]
    for first in halves[:WITH_ANY]:
        yield from _with_each(first.candidate, plain)
    plainest = [single for single in singles if single.cost <= PLAINEST_COST][:PLAINEST]
    yield from _by_rank(plainest)


def _with_each(first: Candidate, seconds: Sequence[Candidate]) -> Iterator[Candidate]:
    for second in seconds:
        if compatible(first, second):
            yield combine(first, second)


def _by_rank(singles: Sequence[Candidate]) -> Iterator[Candidate]:
    """Pairs in order of the sum of their ranks, so that likely ones come first."""
    for total in range(1, 2 * len(singles)):
        for low in range(max(0, total - len(singles) + 1), (total + 1) // 2):
            first, second = singles[low], singles[total - low]
            if compatible(first, second):
                yield combine(first, second)
