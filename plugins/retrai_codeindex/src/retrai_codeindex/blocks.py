"""Reads any text by blocks of lines, cut at empty lines where there are some."""

from __future__ import annotations

from .model import Chunk, Source

BLOCK_LINES = 60
MAX_BLOCK_CHARS = 20_000
"""Of a block that is searched: a line of a megabyte is data."""


def read_blocks(text: str, language: str = "text") -> Source:
    """The blocks of a text, without definitions."""
    lines = text.split("\n")
    source = Source(language, line_count=last_line(lines), parsed="blocks")
    source.chunks = block_chunks(lines, 1, last_line(lines))
    return source


def last_line(lines: list[str]) -> int:
    """The number of the last line: an end of line ends one, and begins none."""
    return len(lines) - (not lines[-1])


def block_chunks(lines: list[str], first: int, last: int) -> list[Chunk]:
    """Blocks for the lines `first` to `last`, counted from 1."""
    chunks: list[Chunk] = []
    start = first
    while start <= last:
        end = min(start + BLOCK_LINES - 1, last)
        if end < last:
            gaps = [n for n in range(end, start + BLOCK_LINES // 2, -1) if not lines[n - 1].strip()]
            end = gaps[0] if gaps else end
        body = "\n".join(lines[start - 1 : end])[:MAX_BLOCK_CHARS]
        if body.strip():
            chunks.append(Chunk("text", "", start, end, body=body))
        start = end + 1
    return chunks
