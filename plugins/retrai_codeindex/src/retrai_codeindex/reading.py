"""Turns a file's bytes into chunks, token weights and facts; runs in worker processes.

What leaves a worker is plain: bytes, strings, numbers. The facts are JSON, compressed.
"""

from __future__ import annotations

import gc
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from . import files
from .blocks import read_blocks
from .documents import weights
from .grammar_source import read_by_grammar
from .languages import language_of
from .model import Chunk, Source
from .python_source import read_python
from .tokens import Tokenizer

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


@dataclass(slots=True)
class Read:
    """A file as it goes into the index.

    Attributes:
        path: relative to the project.
        digest: of the content.
        skipped: why it is not searched: `binary`, `minified`, `too large`, `vanished`; else empty.
        chunks: rows of definitions and blocks.
        weights: for each chunk, its tokens with their weights.
    """

    path: str
    digest: bytes = b""
    language: str = ""
    skipped: str = ""
    parsed: str = ""
    line_count: int = 0
    facts: bytes | None = None
    chunks: list[tuple[str, str, int, int, str, str]] = field(
        default_factory=list[tuple[str, str, int, int, str, str]]
    )
    weights: list[dict[str, int]] = field(default_factory=list[dict[str, int]])


class Reader:
    """Reads files of one project; remembers tokens from file to file.

    Args:
        root: the project's folder.
        tokenizer: one that remembers tokens already.
    """

    def __init__(self, root: Path, tokenizer: Tokenizer | None = None) -> None:
        self.root = root
        self.tokenizer = tokenizer or Tokenizer()

    def read(self, path: str, *, parse: bool = True) -> Read:
        """Read a file; never raises for what the file holds."""
        data = files.read_bytes(self.root, path)
        if data is None:
            return Read(path, skipped="vanished")
        read = Read(path, blake2b(data, digest_size=16).digest())
        if len(data) > files.MAX_BYTES:
            read.skipped = "too large"
            return read
        text = files.decode(data)
        if text is None:
            read.skipped = "binary"
            return read
        language = language_of(path, text)
        if language != "text" and len(text) > 1000 and is_minified(text):
            read.skipped = "minified"
            return read
        with _paused_collector():
            source = read_source(text, language, parse and len(data) <= files.MAX_PARSED_BYTES)
            self._fill(read, source)
        return read

    def _fill(self, read: Read, source: Source) -> None:
        read.language, read.parsed = source.language, source.parsed
        read.line_count = source.line_count
        if source.facts is not None:
            packed = _encode(source.facts)
            read.facts = zlib.compress(packed.encode("utf-8", "surrogatepass"), 1)
        path_tokens = self.tokenizer.tokens(str(PurePosixPath(read.path).with_suffix("")))
        for chunk in source.chunks:
            read.chunks.append(_row(chunk))
            read.weights.append(weights(chunk, path_tokens, self.tokenizer))


def _row(chunk: Chunk) -> tuple[str, str, int, int, str, str]:
    texts = (_storable(text) for text in (chunk.symbol, chunk.signature, chunk.doc))
    symbol, signature, doc = texts
    return (chunk.kind, symbol, chunk.start_line, chunk.end_line, signature, doc)


def _storable(text: str) -> str:
    """SQLite takes no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Without looks for cyclic garbage: a syntax tree has none, and each look takes its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def is_minified(text: str) -> bool:
    """Whether the lines are too long for a person."""
    lines = text.count("\n") + 1
    return len(text) / lines > files.MAX_LINE / 10


def read_source(text: str, language: str, may_parse: bool = True) -> Source:
    """The chunks and facts of a text; by blocks where it cannot or may not be parsed."""
    if language == "text" or not may_parse:
        return read_blocks(text, language)
    if language == "python":
        try:
            return read_python(text)
        except SyntaxError:
            pass  # by its grammar, as far as it parses
    return read_by_grammar(text, language)


_readers: dict[str, Reader] = {}
"""In a worker process only: the reader of the project that the worker serves."""


def start_worker(root: str) -> None:
    """Prepare a worker process: it ends with its parent, however that ends."""
    import multiprocessing
    import os
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops the work
    parent = multiprocessing.parent_process()
    if parent is not None:

        def follow() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()
    _readers[root] = Reader(Path(root))


def read_batch(root: str, paths: Sequence[str]) -> list[Read]:
    """Read some files in a worker process."""
    reader = _readers[root]
    return [reader.read(path) for path in paths]
