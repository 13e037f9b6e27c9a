"""Ranks the definitions that searches have found by how well they fit a question. No model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .found import Named, Place, Related
from .question import Question, stems

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|specs|__tests__)/|(?:^|/)(?:test_|conftest)|_test\."
)
_BESIDE = re.compile(
    r"(?:^|/)(?:docs?|examples?|benchmarks?|scripts|performance|dist|build|generated)/|(?:^|/)(?:change|history|news)",
    re.IGNORECASE,
)
_KIND = {"module": 0.5, "text": 0.35}
_MENTIONED = 50.0
"""What stands in a mentioned file or folder comes before everything else."""
_LEAST_FIT = 0.4
"""How well a definition that shares no word with the question fits it."""
_RANK = 6.0
"""A hit at rank r of a search counts 1 / (r + this)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A definition with its score."""

    named: Named
    score: float


def rank(asked: Question, searches: Iterable[Sequence[Named]]) -> list[Ranked]:
    """The definitions that the searches found, best first.

    What the question mentions by its path comes first. Tests and what stands beside the code count
    less, unless the question asks for them.
    """
    words = asked.weights()
    least = _LEAST_FIT if asked.is_whole else _LEAST_FIT / 4  # other parts' searches found it too
    wanted = [f".{name}" for name in asked.names]
    asks_for_tests = bool(words.keys() & {"test", "pytest", "spec", "fixtur"})
    found: dict[Place, Named] = {}
    scores: dict[Place, float] = {}
    for hits in searches:
        for position, named in enumerate(hits):
            known = found.get(named.place)
            if known is None or len(named.symbol) < len(known.symbol):
                found[named.place] = named
            scores[named.place] = scores.get(named.place, 0.0) + 1 / (position + _RANK)
    ranked: list[Ranked] = []
    for place, named in found.items():
        fit = least + _fit(named, words, wanted)
        ranked.append(Ranked(named, scores[place] * fit * _weight(named, asked, asks_for_tests)))
    ranked.sort(key=lambda each: (-each.score, str(each.named.place)))
    return _without_parts(ranked)


def boost_by_calls(ranked: Sequence[Ranked], calls: Sequence[Related]) -> list[Ranked]:
    """Those again; what several of the best call, or are called by, counts more."""
    by_name: dict[str, set[Place]] = {}
    for call in calls:
        if call.place is not None and call.relation in ("caller", "callee"):
            by_name.setdefault(call.of, set()).add(call.place)
    counts: dict[Place, int] = {}
    for places in by_name.values():
        for place in places:
            counts[place] = counts.get(place, 0) + 1
    again = [replace(each, score=each.score * (1 + 0.25 * counts.get(each.named.place, 0)))
             for each in ranked]  # fmt: skip
    return sorted(again, key=lambda each: (-each.score, str(each.named.place)))


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by its path."""
    return bool(_TESTS.search(path))


def _fit(named: Named, words: Mapping[str, float], wanted: Sequence[str]) -> float:
    """How much of the question the name and the docstring say."""
    name = set(stems(named.symbol))
    text = set(stems(f"{named.doc} {named.signature}"))
    total = sum(words.values()) or 1.0
    said = sum(weight for word, weight in words.items() if word in name)
    described = sum(weight for word, weight in words.items() if word in text - name)
    fit = 1.2 * said / total + 0.8 * described / total
    if any(f".{named.symbol}".endswith(each) for each in wanted):
        fit = 4 * (fit + _LEAST_FIT)
    return fit


def _weight(named: Named, asked: Question, asks_for_tests: bool) -> float:
    path = named.place.path
    if any(path == each or path.startswith(f"{each}/") for each in asked.paths):
        return _MENTIONED
    weight = _KIND.get(named.kind, 1.0)
    if is_test(path) and not asks_for_tests:
        weight *= 0.15
    if _BESIDE.search(path):
        weight *= 0.4
    return weight


def _without_parts(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Without blocks of text that lie in a definition which is there too."""
    defined = [each.named.place for each in ranked if each.named.symbol]
    return [
        each
        for each in ranked
        if each.named.symbol
        or not any(
            place.path == each.named.place.path
            and place.start <= each.named.place.start
            and each.named.place.end <= place.end
            for place in defined
        )
    ]
