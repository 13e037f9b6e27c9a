"""Splits words that are written together: `rmtree` is `rm` and `tree`.

The words are those of `words.txt`, with their frequency in docstrings of many packages
(`benchmarks/learn_words.py`), and the usual abbreviations. Of all ways to cut, the likeliest wins.
"""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import ClassVar

LETTERS = 3
MIN_COMPOUND = 5
MAX_COMPOUND = 30
MAX_WORDS = 4
MAX_WORD = 14
WORD_COST = 2.0
"""Beside a word's rarity: few long words are better than many short ones."""
ABBREVIATIONS = """
is to rm mk in on by id io fd un db tk str int len dir fmt msg idx num arg args dict func attr repr
ctx cfg init iter del env err exc lib obj src dst mem seq pos tmp val var spec char expr param cmd
proc sock addr req resp esc url uri xml html http json utf ascii uid gid
"""
ABBREVIATION_COUNT = 60
PREFIXES = ("get", "set", "has", "add")
"""May stand before a word that is not known."""


class Words:
    """The words that compounds are made of."""

    PATH: ClassVar[Path] = Path(__file__).with_name("words.txt")

    @cached_property
    def _costs(self) -> dict[str, float]:
        counts = dict.fromkeys(ABBREVIATIONS.split(), ABBREVIATION_COUNT)
        if self.PATH.is_file():
            for line in self.PATH.read_text().splitlines():
                word, _, count = line.partition(" ")
                counts[word] = int(count)
        total = sum(counts.values())
        return {word: math.log(total / count) + WORD_COST for word, count in counts.items()}

    def split(self, word: str) -> tuple[str, ...]:
        """The parts of a compound, in lower case; empty for what is none."""
        costs = self._costs
        if word in costs or not MIN_COMPOUND <= len(word) <= MAX_COMPOUND:
            return ()
        best: list[tuple[float, tuple[str, ...]] | None] = [(0.0, ()), *[None] * len(word)]
        for end in range(2, len(word) + 1):
            for start in range(max(0, end - MAX_WORD), end - 1):
                before, cost = best[start], costs.get(word[start:end])
                if before is None or cost is None:
                    continue
                here = best[end]
                if here is None or before[0] + cost < here[0]:
                    best[end] = (before[0] + cost, (*before[1], word[start:end]))
        found = best[-1]
        if found is not None and len(found[1]) <= MAX_WORDS:
            return found[1]
        is_prefixed = word.startswith(PREFIXES) and len(word) >= LETTERS + 4
        return (word[:LETTERS], word[LETTERS:]) if is_prefixed else ()
