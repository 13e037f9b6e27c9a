"""What of a chunk is searched: its tokens, each with a weight.

The weight is BM25F's: the frequency in each field is divided by the field's length norm, multiplied
by the field's weight, summed, and saturated: `f / (K1 + f)`. The lengths are compared with fixed
averages, measured on CPython's library, and not with the project's: so a chunk's weights depend on
that chunk alone, and a changed file changes nothing in the others. A weight is stored in a byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .model import Chunk
from .tokens import Tokenizer

K1 = 3.0
SCALE = 255


@dataclass(frozen=True, slots=True)
class Field:
    """A field's weight, how far its length counts (0 to 1), and its usual length in tokens."""

    weight: float
    b: float
    usual: float


NAME = Field(16.0, 0.3, 2.1)
SCOPE = Field(6.0, 0.4, 1.7)
SIGNATURE = Field(2.0, 0.0, 4.1)
DOC = Field(2.0, 0.6, 12.0)
BODY = Field(0.7, 0.8, 57.0)
PATH = Field(4.0, 0.3, 3.2)


def weights(chunk: Chunk, path_tokens: list[str], tokenizer: Tokenizer) -> dict[str, int]:
    """The weight of each token of a chunk, 1 to 255."""
    scope, _, name = chunk.symbol.rpartition(".")
    tokens = tokenizer.tokens
    sums: dict[str, float] = {}
    _add(sums, tokens(name), NAME)
    _add(sums, tokens(scope), SCOPE)
    _add(sums, tokens(chunk.signature), SIGNATURE)
    _add(sums, tokens(chunk.doc), DOC)
    _add(sums, tokens(chunk.body), BODY)
    _add(sums, path_tokens, PATH)
    return {token: int(SCALE * value / (K1 + value)) or 1 for token, value in sums.items()}


def _add(sums: dict[str, float], tokens: Iterable[str], field: Field) -> None:
    counted = Counter(tokens)
    if not counted:
        return
    length = counted.total()
    each = field.weight / (1 - field.b + field.b * length / field.usual)
    for token, count in counted.items():
        sums[token] = sums.get(token, 0.0) + count * each
