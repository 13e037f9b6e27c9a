"""The posting lists: which chunks hold a token, and with which weight.

`term` has one row a token: the chunks' ids (`array("I")`) and weights (bytes), as the last rebuild
left them. What changed since is in `delta`, by token and file; chunks of removed files are in
`dead`, with their number for each token in `delta.removed`, so that the count of a token's chunks
is exact. When the changes reach a tenth of the chunks, everything is merged.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MERGE_SHARE = 0.1
MIN_MERGED = 2000
"""Fewer changed chunks are never worth a merge."""


@dataclass(slots=True)
class Postings:
    """The chunks of one token.

    Attributes:
        chunks: their ids.
        weights: as many bytes.
        count: the chunks that are still there.
    """

    chunks: array[int] = field(default_factory=lambda: array("I"))
    weights: bytearray = field(default_factory=bytearray)
    count: int = 0


class Builder:
    """Collects the posting lists of a whole index in memory."""

    def __init__(self) -> None:
        self._lists: dict[str, tuple[array[int], bytearray]] = {}

    def add(self, chunk: int, weights: dict[str, int]) -> None:
        """Add a chunk."""
        lists = self._lists
        for token, weight in weights.items():
            found = lists.get(token)
            if found is None:
                found = lists[token] = (array("I"), bytearray())
            found[0].append(chunk)
            found[1].append(weight)

    def write(self, db: sqlite3.Connection) -> None:
        """Put everything into empty tables."""
        lists = self._lists
        db.executemany(
            "INSERT INTO term (token, chunks, weights) VALUES (?, ?, ?)",
            ((token, lists[token][0].tobytes(), bytes(lists[token][1])) for token in sorted(lists)),
        )
        self._lists = {}


def has_lists(db: sqlite3.Connection) -> bool:
    """Whether there are lists, if only of chunks that are gone."""
    return db.execute("SELECT 1 FROM term LIMIT 1").fetchone() is not None


def add_delta(
    db: sqlite3.Connection, file: int, chunks: Iterable[tuple[int, dict[str, int]]]
) -> None:
    """Add a file's chunks beside the merged lists."""
    lists: dict[str, tuple[array[int], bytearray]] = {}
    for chunk, weights in chunks:
        for token, weight in weights.items():
            found = lists.get(token)
            if found is None:
                found = lists[token] = (array("I"), bytearray())
            found[0].append(chunk)
            found[1].append(weight)
    db.executemany(
        "INSERT INTO delta (token, file, chunks, weights, removed) VALUES (?, ?, ?, ?, 0)",
        ((token, file, c.tobytes(), bytes(w)) for token, (c, w) in lists.items()),
    )


def remove(db: sqlite3.Connection, file: int, terms: bytes | None, chunks: list[int]) -> None:
    """Take a file's chunks away; `terms` is what `packed_terms` gave for it."""
    if db.execute("DELETE FROM delta WHERE file = ?", (file,)).rowcount or terms is None:
        return
    counts = unpacked_terms(terms)
    db.executemany(
        "INSERT INTO delta (token, file, chunks, weights, removed) VALUES (?, ?, x'', x'', ?)",
        ((token, file, count) for token, count in counts),
    )
    db.executemany("INSERT OR IGNORE INTO dead (chunk) VALUES (?)", ((chunk,) for chunk in chunks))


def packed_terms(weights: Iterable[dict[str, int]]) -> bytes:
    """The tokens of a file and in how many of its chunks each is."""
    counts = Counter[str]()
    for each in weights:
        counts.update(each.keys())
    return zlib.compress("\n".join(f"{t} {n}" for t, n in counts.items()).encode(), 1)


def unpacked_terms(packed: bytes) -> Iterator[tuple[str, int]]:
    """The reverse of `packed_terms`."""
    for line in zlib.decompress(packed).decode().splitlines():
        token, _, count = line.rpartition(" ")
        yield token, int(count)


def read_postings(db: sqlite3.Connection, token: str) -> Postings:
    """The chunks of a token; those that are dead are among `chunks`, and not in `count`."""
    postings = Postings()
    for chunks, weights in db.execute("SELECT chunks, weights FROM term WHERE token = ?", (token,)):
        postings.chunks.frombytes(chunks)
        postings.weights += weights
    removed = 0
    rows = db.execute("SELECT chunks, weights, removed FROM delta WHERE token = ?", (token,))
    for chunks, weights, gone in rows:
        postings.chunks.frombytes(chunks)
        postings.weights += weights
        removed += gone
    postings.count = len(postings.weights) - removed
    return postings


def merge(db: sqlite3.Connection) -> None:
    """Merge all changes into the lists of `term`."""
    dead = {chunk for (chunk,) in db.execute("SELECT chunk FROM dead")}
    tokens = [token for (token,) in db.execute("SELECT DISTINCT token FROM delta")]
    for token in tokens:
        postings = read_postings(db, token)
        kept = [
            (chunk, weight)
            for chunk, weight in zip(postings.chunks, postings.weights, strict=True)
            if chunk not in dead
        ]
        if kept:
            db.execute(
                "INSERT INTO term (token, chunks, weights) VALUES (?, ?, ?)"
                " ON CONFLICT (token) DO UPDATE SET chunks = excluded.chunks,"
                " weights = excluded.weights",
                (token, array("I", (c for c, _ in kept)).tobytes(), bytes(w for _, w in kept)),
            )
        else:
            db.execute("DELETE FROM term WHERE token = ?", (token,))
    db.execute("DELETE FROM delta")
    db.execute("DELETE FROM dead")
