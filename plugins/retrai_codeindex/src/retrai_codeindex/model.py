"""What a file becomes when it is read: chunks, and facts about calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Chunk:
    """A piece of a file: a definition, or a block of text outside definitions.

    Attributes:
        kind: `function`, `method`, `class`, `module`, `struct`, ...; `text` for a block.
        symbol: the dotted name within the file (`Cart.total`); empty for a block.
        start_line: first line, counted from 1; a definition's decorators are part of it.
        end_line: last line.
        signature: the definition's head in one line; empty for a block.
        doc: the docstring or the comment above.
        body: what is searched beside name, signature and docstring; not stored.
    """

    kind: str
    symbol: str
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    body: str = ""

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.symbol.rpartition(".")[2]


@dataclass(slots=True)
class Source:
    """A file that was read.

    Attributes:
        language: `python`, `c`, ...; `text` for every other text file.
        chunks: in the order of their first lines.
        facts: JSON for the resolver of the language; None for text.
        line_count: its lines.
        parsed: `whole`, `partly` (syntax errors), or `blocks`.
    """

    language: str
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    facts: Any = None
    line_count: int = 0
    parsed: str = "whole"
