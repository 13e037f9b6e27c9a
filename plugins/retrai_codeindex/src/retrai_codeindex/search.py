"""Answers a question with chunks: BM25F over the posting lists, then a closer look at the best.

1. The question's tokens are weighed by how rare they are. The posting lists are added up, the
   rarest first, until `MAX_POSTINGS` have been read; more frequent tokens only re-score what the
   rarer ones have found. So a question costs about the same whatever words it has. If they find
   little, what the words mean in names is looked for too.
2. The best `CANDIDATES` are ranked by a weighted sum: this score, how much of the name the question
   says, if only by meaning (`meanings.py`), how likely the question is for its name, signature,
   docstring and scope, and how much of the question the chunk has at all. The weights were fitted
   to first sentences of docstrings in twelve packages, none of them CPython's library.
"""

from __future__ import annotations

import math
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from .documents import SCALE
from .meanings import ANY, Meanings
from .postings import Postings, read_postings
from .tokens import WHOLE, Tokenizer
from .vectors import Vectors

MAX_POSTINGS = 3000
CANDIDATES = 80
RERANKED = 20
"""Of the candidates, so many are embedded: 80 cost four times as much for .003 of MRR@10."""
MAX_TOKENS = 64
"""Of a question: the rarest are kept."""

# The weights of the sum.
KEYWORDS = 3.6
NAME = 2.0
LIKELIHOOD = 1.55
COVERAGE = 3.2
NAME_LENGTH = -0.5
SIMILARITY = 8.0
"""Of the cosine between the vectors of question and hit, with an embedder."""
KINDS = {"class": -2.0, "module": -2.0, "constant": -2.0}
"""They share words with all that stands in them: what stands there comes first."""
SYMBOL = 4.0
"""For a question that is the hit's own name."""
MEANING = 3.0
"""A name part that means a word with a probability of a third is as good as the word itself."""
MEANT_SHARE = 0.3
"""Of a word's weight, for the parts of names that it means."""
SAME_WORD = 0.5
"""The probability that a sentence says a name part as it is."""
DESCRIPTION_SHARE = 0.5
"""Of signature and docstring, beside the name's 1."""
SCOPE_SHARE = 0.3
MAX_DOC = 300
"""Of a docstring: its beginning says what the definition is for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that fits a question.

    Attributes:
        path: the file, relative to the project.
        start_line: its first line, counted from 1.
        end_line: its last line.
        symbol: the dotted name within the file; empty for a block of text.
        kind: `function`, `method`, `class`, `module`, `text`, ...
        score: higher is better; to compare the hits of one question only.
        signature: of a definition.
        doc: its docstring.
    """

    path: str
    start_line: int
    end_line: int
    symbol: str
    score: float
    kind: str = ""
    signature: str = ""
    doc: str = ""


class Searcher:
    """Searches one index."""

    def __init__(
        self,
        db: sqlite3.Connection,
        tokenizer: Tokenizer,
        meanings: Meanings,
        vectors: Vectors | None = None,
    ) -> None:
        self.db = db
        self.vectors = vectors
        self.tokenizer = tokenizer
        self.meanings = meanings

    def search(self, query: str, count: int) -> list[Hit]:
        """The best chunks for a question, best first."""
        query = query[:4000]
        tokens = self.tokenizer.query(query)
        total = self._total()
        lists = [(token, read_postings(self.db, token)) for token in tokens]
        found = [(_rarity(p.count, total), token, p) for token, p in lists if p.count]
        found.sort(key=lambda item: (-item[0], item[1]))
        del found[MAX_TOKENS:]
        meant = [] if sum(p.count for _, _, p in found) >= CANDIDATES else self._meant(lists, total)
        scores = _scores([*found, *meant], max(count, CANDIDATES), self._dead())
        nearest: set[int] = set()
        if self.vectors is not None and query.strip():
            nearest = set(self.vectors.nearest(query, max(count, RERANKED)))
            scores += [(chunk, 0.0) for chunk in nearest.difference(dict(scores))]
        if not scores:
            return []
        rarities = {token: _rarity(p.count, total) for token, p in lists}
        asked = _Question(query, rarities, self.tokenizer, self.meanings)
        coverage = _coverage(found, [chunk for chunk, _ in scores], asked.rarity)
        best = max(score for _, score in scores) or 1.0
        scored = [
            _Scored(chunk, hit, asked.score(hit, score / best, coverage[chunk]))
            for chunk, hit, score in self._rows(scores)
        ]
        scored.sort(key=_order)
        if self.vectors is not None and query.strip():
            scored = self._by_meaning(query, scored, nearest)
        return [replace(each.hit, score=round(each.score, 4)) for each in scored[:count]]

    def _by_meaning(
        self, query: str, scored: Sequence[_Scored], nearest: Container[int]
    ) -> list[_Scored]:
        """The first of them, and the nearest, ranked again; then the others."""
        assert self.vectors is not None
        first = [e for at, e in enumerate(scored) if at < RERANKED or e.chunk in nearest]
        similar = self.vectors.similarities(query, [each.chunk for each in first])
        again = sorted(
            (
                replace(each, score=each.score + SIMILARITY * similar.get(each.chunk, 0.0))
                for each in first
            ),
            key=_order,
        )
        chosen, least = {each.chunk for each in again}, again[-1].score
        others = [each for each in scored if each.chunk not in chosen]
        return [*again, *(replace(each, score=min(each.score, least)) for each in others)]

    def _meant(
        self, lists: Sequence[tuple[str, Postings]], total: int
    ) -> list[tuple[float, str, Postings]]:
        """The lists of what the question's words mean in names; for one that finds little."""
        chances: dict[str, float] = {}
        for token, _ in lists[:MAX_TOKENS]:
            for part, chance in self.meanings.of(token).items():
                chances[part] = max(chances.get(part, 0.0), chance)
        found = [(chance, part, read_postings(self.db, part)) for part, chance in chances.items()]
        return [
            (MEANT_SHARE * min(1.0, MEANING * chance) * _rarity(p.count, total), part, p)
            for chance, part, p in found
            if p.count
        ]

    def _total(self) -> int:
        (live,) = self.db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone() or (0,)
        return max(1, int(live))

    def _dead(self) -> set[int]:
        return {chunk for (chunk,) in self.db.execute("SELECT chunk FROM dead")}

    def _rows(self, scores: Sequence[tuple[int, float]]) -> list[tuple[int, Hit, float]]:
        marks = ",".join("?" * len(scores))
        rows = self.db.execute(
            "SELECT c.id, f.path, c.start_line, c.end_line, c.symbol, c.kind, c.signature, c.doc"
            f" FROM chunk c JOIN file f ON f.id = c.file WHERE c.id IN ({marks})",
            [chunk for chunk, _ in scores],
        )
        score_of = dict(scores)
        return [
            (chunk, Hit(path, start, end, symbol, 0.0, kind, signature, doc), score_of[chunk])
            for chunk, path, start, end, symbol, kind, signature, doc in rows
        ]


@dataclass(frozen=True, slots=True)
class _Scored:
    chunk: int
    hit: Hit
    score: float


def _order(scored: _Scored) -> tuple[float, str, int, str]:
    hit = scored.hit
    return -scored.score, hit.path, hit.start_line, hit.symbol


class _Question:
    """A question's words, and how well a definition fits them."""

    def __init__(
        self, text: str, rarities: Mapping[str, float], tokenizer: Tokenizer, meanings: Meanings
    ) -> None:
        self.tokenizer = tokenizer
        self.symbol = "." + text.strip().replace("::", ".").removesuffix("()")
        self.words = frozenset(rarities).union(tokenizer.parts(text))
        self.rarities = {t: r for t, r in rarities.items() if not t.startswith(WHOLE)}
        self.rarity = sum(self.rarities.values()) or 1.0
        self.unlikely: dict[str, float] = {}
        self.chances: dict[str, list[tuple[str, float]]] = {}
        """For each part of a name, the words of the question that it means."""
        for word in self.rarities:
            means = meanings.of(word)
            self.unlikely[word] = 0.01 + 0.1 * means.get(ANY, 0.0)
            for part, chance in (means | {word: means.get(word, 0.0) + SAME_WORD}).items():
                self.chances.setdefault(part, []).append((word, chance))

    def score(self, hit: Hit, keywords: float, coverage: float) -> float:
        """How well a hit fits.

        Args:
            hit: what was found.
            keywords: its BM25F score, as a share of the best.
            coverage: the share of the question's words that it has, by their rarity.
        """
        scope, _, name = hit.symbol.rpartition(".")
        parts = self.tokenizer.parts(name)
        score = KEYWORDS * keywords + COVERAGE * coverage + KINDS.get(hit.kind, 0.0)
        if f".{hit.symbol}".endswith(self.symbol):
            score += SYMBOL
        if parts:
            score += NAME * sum(map(self._said, parts)) / len(parts)
            score += NAME_LENGTH * math.log(len(parts))
        return score + LIKELIHOOD * self._likelihood(parts, hit, scope)

    def _said(self, part: str) -> float:
        """How far the question says a part of a name, 0 to 1."""
        if part in self.words:
            return 1.0
        chances = self.chances.get(part)
        return min(1.0, MEANING * max(chance for _, chance in chances)) if chances else 0.0

    def _likelihood(self, parts: Sequence[str], hit: Hit, scope: str) -> float:
        """How likely the question's words are for a definition, as the mean of a logarithm."""
        shares = dict.fromkeys(self.tokenizer.tokens(scope), SCOPE_SHARE)
        described = f"{hit.signature} {hit.doc[:MAX_DOC]}"
        shares |= dict.fromkeys(self.tokenizer.tokens(described), DESCRIPTION_SHARE)
        shares |= dict.fromkeys(parts, 1.0)
        best: dict[str, float] = {}
        for part, share in shares.items():
            for word, chance in self.chances.get(part, ()):
                best[word] = max(best.get(word, 0.0), share * chance)
        total = sum(
            self.rarities[word] * math.log(1 + chance / self.unlikely[word])
            for word, chance in best.items()
        )
        return total / self.rarity


def _coverage(
    found: Sequence[tuple[float, str, Postings]], chunks: Sequence[int], all_rarity: float
) -> dict[int, float]:
    """Of the question's words, by their rarity, the share that each chunk has."""
    lookups = [(r, _lookup(p)) for r, token, p in found if not token.startswith(WHOLE)]
    return {
        chunk: sum(rarity for rarity, lookup in lookups if lookup(chunk)) / all_rarity
        for chunk in chunks
    }


def _rarity(count: int, total: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _scores(
    found: Sequence[tuple[float, str, Postings]], count: int, dead: set[int]
) -> list[tuple[int, float]]:
    """The best chunks with their scores."""
    sums: dict[int, float] = {}
    read, at = 0, 0
    for rarity, _, postings in found:
        if at and read + postings.count > MAX_POSTINGS:
            break
        factor = rarity / SCALE
        pairs = zip(postings.chunks, postings.weights, strict=True)
        if not sums:
            sums = {chunk: factor * weight for chunk, weight in pairs}
        else:
            get = sums.get
            for chunk, weight in pairs:
                sums[chunk] = get(chunk, 0.0) + factor * weight
        read += postings.count
        at += 1
    for chunk in dead.intersection(sums) if len(dead) > len(sums) else dead:
        sums.pop(chunk, None)
    rest = found[at:]
    best = _best(sums, 4 * count if rest else count)
    if rest:
        lookups = [(rarity / SCALE, _lookup(postings)) for rarity, _, postings in rest]
        for chunk in best:
            sums[chunk] += sum(factor * lookup(chunk) for factor, lookup in lookups)
        best.sort(key=lambda chunk: (-sums[chunk], chunk))
    return [(chunk, sums[chunk]) for chunk in best[:count]]


def _best(sums: dict[int, float], count: int) -> list[int]:
    if len(sums) <= count:
        return sorted(sums, key=lambda chunk: (-sums[chunk], chunk))
    # All that score as the last one does are kept: which of them comes first is not for the id.
    limit = sorted(sums.values())[-count]
    return [chunk for chunk, score in sums.items() if score >= limit]


def _lookup(postings: Postings) -> Callable[[int], int]:
    """Finds a chunk's weight; ids ascend, for each update gives higher ones."""
    chunks, weights = postings.chunks, postings.weights

    def weight_of(chunk: int) -> int:
        at = bisect_left(chunks, chunk)
        return weights[at] if at < len(chunks) and chunks[at] == chunk else 0

    return weight_of
