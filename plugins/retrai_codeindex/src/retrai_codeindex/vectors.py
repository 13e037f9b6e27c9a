"""Vectors of chunks, kept in the index file: by content and model, made when they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

from . import files
from .embedders import Embedder
from .store import IndexFile

MAX_CHARS = 300
"""Of a chunk's text: its name, its file, the beginning of its docstring, its signature. With code
instead of the signature, MRR@10 was lower by .02 (all-MiniLM-L6-v2)."""
BATCH = 256
_KEYWORD = re.compile(r"^(?:async )?(?:def|class) ")


class Vectors:
    """The vectors of one index by one embedder.

    Args:
        index: the index file.
        root: the project's folder, from which the texts are read.
        embedder: makes the vectors.
    """

    def __init__(self, index: IndexFile, root: Path, embedder: Embedder) -> None:
        self.index = index
        self.root = root
        self.embedder = embedder

    def similarities(self, question: str, chunks: Sequence[int]) -> dict[int, float]:
        """How similar chunks are to a question, -1 to 1; embeds those that have no vector yet."""
        import numpy as np

        if not chunks:
            return {}
        known = self._known(chunks)
        missing = [chunk for chunk in chunks if chunk not in known]
        if missing:
            known |= self._embed(missing)
        chunks = [chunk for chunk in chunks if chunk in known]  # others are gone meanwhile
        if not chunks:
            return {}
        matrix = np.stack([known[chunk] for chunk in chunks])
        found = matrix @ self.embedder.embed([question])[0]
        return dict(zip(chunks, map(float, found), strict=True))

    def nearest(self, question: str, count: int) -> list[int]:
        """The most similar chunks of all; none unless all were embedded once.

        Of chunks that have changed since, a question embeds the first `BATCH`.
        """
        import numpy as np

        row = self.index.db.execute("SELECT value FROM meta WHERE key = 'embedded'").fetchone()
        if row is None or row[0] != self.embedder.name:
            return []
        if missing := self._missing()[:BATCH]:
            self._embed(missing)
        rows = self.index.db.execute(
            "SELECT c.id, v.vector FROM chunk c JOIN chunk_vector k ON k.chunk = c.id"
            " JOIN vector v ON v.key = k.key WHERE k.model = ?",
            (self.embedder.name,),
        ).fetchall()
        if not rows:
            return []
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype=np.float32)
        found = matrix.reshape(len(rows), -1) @ self.embedder.embed([question])[0]
        best = np.argsort(-found)[:count]
        return [rows[int(number)][0] for number in best]

    def embed_all(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every chunk that has no vector yet, so that `nearest` finds it; how many."""
        missing = self._missing()
        for at in range(0, len(missing), BATCH):
            self._embed(missing[at : at + BATCH])
            if progress is not None:
                progress(min(at + BATCH, len(missing)), len(missing))
        with self.index.writing() as db:
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('embedded', ?)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (self.embedder.name,),
            )
            db.execute("DELETE FROM chunk_vector WHERE chunk NOT IN (SELECT id FROM chunk)")
            db.execute("DELETE FROM vector WHERE key NOT IN (SELECT key FROM chunk_vector)")
        return len(missing)

    def _missing(self) -> list[int]:
        """The chunks that have no vector by this embedder."""
        rows = self.index.db.execute(
            "SELECT id FROM chunk WHERE id NOT IN"
            " (SELECT chunk FROM chunk_vector WHERE model = ?) ORDER BY id",
            (self.embedder.name,),
        )
        return [chunk for (chunk,) in rows]

    def _known(self, chunks: Iterable[int]) -> dict[int, Any]:
        import numpy as np

        chosen = list(chunks)
        rows = self.index.db.execute(
            "SELECT k.chunk, v.vector FROM chunk_vector k JOIN vector v ON v.key = k.key"
            f" WHERE k.model = ? AND k.chunk IN ({','.join('?' * len(chosen))})",
            (self.embedder.name, *chosen),
        )
        return {chunk: np.frombuffer(vector, dtype=np.float32) for chunk, vector in rows}

    def _embed(self, chunks: Sequence[int]) -> dict[int, Any]:
        import numpy as np

        texts = self._texts(chunks)
        keys = {chunk: self._key(text) for chunk, text in texts.items()}
        known: dict[bytes, Any] = {}
        for key in keys.values():
            row = self.index.db.execute(
                "SELECT vector FROM vector WHERE key = ?", (key,)
            ).fetchone()
            if row is not None:
                known[key] = np.frombuffer(row[0], dtype=np.float32)
        missing = {key: texts[chunk] for chunk, key in keys.items() if key not in known}
        if missing:
            made = self.embedder.embed(list(missing.values()))
            known.update(zip(missing, made, strict=True))
        with self.index.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO vector (key, vector) VALUES (?, ?)",
                ((key, known[key].astype(np.float32).tobytes()) for key in missing),
            )
            db.executemany(
                "INSERT OR REPLACE INTO chunk_vector (chunk, model, key) VALUES (?, ?, ?)",
                ((chunk, self.embedder.name, key) for chunk, key in keys.items()),
            )
        return {chunk: known[key] for chunk, key in keys.items()}

    def _key(self, text: str) -> bytes:
        named = f"{self.embedder.name}\n{text}".encode("utf-8", "replace")
        return blake2b(named, digest_size=16).digest()

    def _texts(self, chunks: Sequence[int]) -> dict[int, str]:
        rows = self.index.db.execute(
            "SELECT c.id, f.path, c.start_line, c.end_line, c.symbol, c.signature, c.doc"
            " FROM chunk c JOIN file f ON f.id = c.file"
            f" WHERE c.id IN ({','.join('?' * len(chunks))})",
            list(chunks),
        ).fetchall()
        found: dict[int, str] = {}
        for chunk, path, start, end, symbol, signature, doc in rows:
            where = _words(PurePosixPath(path).with_suffix(""))
            if symbol:
                said = [_words(symbol), where, doc, _words(_KEYWORD.sub("", signature))]
            else:
                said = [where, self._lines(path, start, end)]
            found[chunk] = "\n".join(" ".join(each.split()) for each in said if each)[:MAX_CHARS]
        return found

    def _lines(self, path: str, start: int, end: int) -> str:
        data = files.read_bytes(self.root, path)
        lines = ((data and files.decode(data)) or "").split("\n")
        return "\n".join(lines[start - 1 : end])


def _words(name: object) -> str:
    """A name, a path or a signature as words: `loadFile(a_path)` gives `load File(a path)`."""
    return re.sub(r"[_./]", " ", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", str(name)))
