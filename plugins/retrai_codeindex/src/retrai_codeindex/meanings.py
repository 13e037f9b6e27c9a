"""What the words of a question mean in names: `directory` means `dir`, `whether` means `is`.

`meanings.txt` has for each part of a name the words of sentences that it stands for, per mille;
learnt from docstrings of many packages by `benchmarks/learn_words.py`. All words are stems.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

PATH = Path(__file__).with_name("meanings.txt")
ANY = "*"
"""The name part that stands for words which sentences have whatever the name is."""


class Meanings:
    """The table, read when it is first used."""

    @cached_property
    def _table(self) -> dict[str, dict[str, float]]:
        table: dict[str, dict[str, float]] = {}
        for line in PATH.read_text().splitlines() if PATH.is_file() else ():
            part, *words = line.split(" ")
            for each in words:
                word, _, chance = each.rpartition(":")
                table.setdefault(word, {})[part] = int(chance) / 1000
        return table

    def of(self, word: str) -> dict[str, float]:
        """The parts of names that a question's word may mean, with their probability."""
        return self._table.get(word, {})
