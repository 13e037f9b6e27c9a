"""Ranks the definitions that searches have found by how well they fit a question. No model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from .found import CallFound, Named, Place

MAX_QUERIES = 5
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SUFFIXES = (
    *("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate", "ities", "ity", "ings"),
    *("ing", "ions", "ion", "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "s", "e", "y"),
)
_LEAST_STEM = 3
_STOP_WORDS = frozenset(
    """
    a about all am an and any are as at be been between but by can code codebase could decide
    decides did do does done each every explain file files find for from function functions get
    gets give had happen happens has have how i if implement implemented implements in into is
    it its know made make makes me method my of on one or our out project show so some tell than
    that the their them then there these they this those through to under us use used uses using
    via was way we were what when where which while who whose why will with work works would you
    your
    """.split()  # noqa: SIM905 - as a list it would be a hundred lines
)
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|specs|__tests__)/|(?:^|/)(?:test_|conftest)|_test\."
)
_BESIDE = re.compile(
    r"(?:^|/)(?:docs?|examples?|benchmarks?|scripts|performance)/|(?:^|/)(?:change|history|news)",
    re.IGNORECASE,
)
_KIND = {"module": 0.5, "text": 0.35}
_RANK = 6.0
"""A hit at rank r of a search counts 1 / (r + this)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A definition with its score."""

    named: Named
    score: float


def words_of(question: str) -> list[str]:
    """The question's words that say what it is about, in their order."""
    words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", question)
    return list(dict.fromkeys(word for word in words if word.lower() not in _STOP_WORDS))


def identifiers_of(question: str) -> list[str]:
    """What in a question is written as code is: dotted, with underscores, in mixed case, quoted.

    Example:
        >>> identifiers_of("What does Schema.load do with `many`, and what is an HTTPError?")
        ['many', 'Schema.load', 'HTTPError']
    """
    quoted = [m for each in re.findall(r"`([^`]+)`", question) for m in _WORD.findall(each)[:1]]
    written = [
        word
        for word in _WORD.findall(question)
        if "_" in word or "." in word or re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]", word)
    ]
    return list(dict.fromkeys([*quoted, *written]))[:5]


def queries_of(question: str) -> list[str]:
    """What to search: the question, and pairs of its words, which other searches rank first."""
    words = words_of(question)[:5]
    pairs = [" ".join(pair) for pair in combinations(words, 2)]
    return list(dict.fromkeys([question[:2000], *pairs]))[:MAX_QUERIES]


def rank(question: str, searches: Iterable[Sequence[Named]]) -> list[Ranked]:
    """The definitions that the searches found, best first.

    Tests and what stands beside the code count less, unless the question asks for them.
    """
    stems = {_stem(word) for word in words_of(question) for word in _parts(word)}
    wanted = {name.lower() for name in identifiers_of(question)}
    asks_for_tests = bool(stems & {"test", "pytest", "spec", "fixtur"})
    found: dict[Place, Named] = {}
    scores: dict[Place, float] = {}
    for hits in searches:
        for position, named in enumerate(hits):
            known = found.get(named.place)
            if known is None or len(named.symbol) < len(known.symbol):
                found[named.place] = named
            scores[named.place] = scores.get(named.place, 0.0) + 1 / (position + _RANK)
    ranked = [
        Ranked(
            named,
            scores[place] * _fit(named, stems, wanted) * _weight(named, asks_for_tests),
        )
        for place, named in found.items()
    ]
    ranked.sort(key=lambda each: (-each.score, str(each.named.place)))
    return _without_parts(ranked)


def boost_by_calls(ranked: Sequence[Ranked], calls: Sequence[CallFound]) -> list[Ranked]:
    """Those again; what several of the best call, or are called by, counts more."""
    by_name: dict[str, set[Place]] = {}
    for call in calls:
        if call.place is not None and call.is_known:
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


def _fit(named: Named, stems: set[str], wanted: set[str]) -> float:
    """How much of the question the name and the docstring say."""
    symbol = named.symbol.lower()
    name = {_stem(part) for part in _parts(named.symbol)}
    text = {_stem(part) for part in _parts(f"{named.doc} {named.signature}")}
    count = max(1, len(stems))
    fit = 0.4 + 1.2 * len(stems & name) / count + 0.8 * len(stems & (text - name)) / count
    if any(symbol == each or symbol.endswith(f".{each}") for each in wanted):
        fit *= 4
    return fit


def _weight(named: Named, asks_for_tests: bool) -> float:
    weight = _KIND.get(named.kind, 1.0)
    if is_test(named.place.path) and not asks_for_tests:
        weight *= 0.15
    if _BESIDE.search(named.place.path):
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


def _parts(text: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(text)]


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word
