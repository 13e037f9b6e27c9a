"""Answers a question with chunks: BM25F over the posting lists, then a closer look at the best.

1. The question's tokens are weighed by how rare they are. The posting lists are added up, the
   rarest first, until `MAX_POSTINGS` have been read; more frequent tokens only re-score what the
   rarer ones have found. So a question costs about the same whatever words it has.
2. The best `CANDIDATES` are looked at once more: how much of the name the question says, if only by
   synonyms, and whether it is a definition or what surrounds definitions.
"""

from __future__ import annotations

import math
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .documents import SCALE
from .postings import Postings, read_postings
from .tokens import WHOLE, Tokenizer

MAX_POSTINGS = 15_000
CANDIDATES = 120
NAME_BONUS = 0.3
KIND_FACTOR = {"class": 0.6, "module": 0.7}
MAX_TOKENS = 64
"""Of a question: the rarest are kept."""


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

    def __init__(self, db: sqlite3.Connection, tokenizer: Tokenizer) -> None:
        self.db = db
        self.tokenizer = tokenizer

    def search(self, query: str, count: int) -> list[Hit]:
        """The best chunks for a question, best first."""
        tokens = self.tokenizer.query(query[:4000])
        total = self._total()
        lists = [(token, read_postings(self.db, token)) for token in tokens]
        found = [(_rarity(p.count, total), token, p) for token, p in lists if p.count]
        found.sort(key=lambda item: (-item[0], item[1]))
        scores = _scores(found[:MAX_TOKENS], max(count, CANDIDATES), self._dead())
        wanted = frozenset(tokens).union(*(self.tokenizer.synonyms(token) for token in tokens))
        hits = [self._rescored(hit, score, wanted) for hit, score in self._rows(scores)]
        hits.sort(key=lambda hit: (-hit.score, hit.path, hit.start_line, hit.symbol))
        return hits[:count]

    def _total(self) -> int:
        (live,) = self.db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone() or (0,)
        return max(1, int(live))

    def _dead(self) -> set[int]:
        return {chunk for (chunk,) in self.db.execute("SELECT chunk FROM dead")}

    def _rows(self, scores: Sequence[tuple[int, float]]) -> list[tuple[Hit, float]]:
        marks = ",".join("?" * len(scores))
        rows = self.db.execute(
            "SELECT c.id, f.path, c.start_line, c.end_line, c.symbol, c.kind, c.signature, c.doc"
            f" FROM chunk c JOIN file f ON f.id = c.file WHERE c.id IN ({marks})",
            [chunk for chunk, _ in scores],
        )
        score_of = dict(scores)
        return [
            (Hit(path, start, end, symbol, 0.0, kind, signature, doc), score_of[chunk])
            for chunk, path, start, end, symbol, kind, signature, doc in rows
        ]

    def _rescored(self, hit: Hit, score: float, wanted: frozenset[str]) -> Hit:
        """The hit with its last score.

        A name that the question says in full, by synonyms too, counts more. A class and a module
        share words with all that stands in them: what stands there comes first.
        """
        parts = self.tokenizer.tokens(hit.symbol.rpartition(".")[2])
        parts = [part for part in parts if not part.startswith(WHOLE)]
        if parts:
            score *= 1 + NAME_BONUS * sum(part in wanted for part in parts) / len(parts)
        score *= KIND_FACTOR.get(hit.kind, 1.0)
        return replace(hit, score=round(score, 4))


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
        get = sums.get
        for chunk, weight in zip(postings.chunks, postings.weights, strict=True):
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
    import heapq

    if len(sums) <= count:
        return sorted(sums, key=lambda chunk: (-sums[chunk], chunk))
    # All that score as the last one does are kept: which of them comes first is not for the id.
    limit = heapq.nlargest(count, sums.values())[-1]
    return [chunk for chunk, score in sums.items() if score >= limit]


def _lookup(postings: Postings) -> Callable[[int], int]:
    """Finds a chunk's weight; ids ascend, for each update gives higher ones."""
    chunks, weights = postings.chunks, postings.weights

    def weight_of(chunk: int) -> int:
        at = bisect_left(chunks, chunk)
        return weights[at] if at < len(chunks) and chunks[at] == chunk else 0

    return weight_of
