"""One value that a test compares with, or a command that must succeed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Language = Literal[
    "python", "shell", "make", "command", "end", "c", "javascript", "javascript value", "perl"
]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One value that a test compares with.

    Attributes:
        language: of the place; "javascript value" where a function of the test compares.
        start, end: where the literal stands in the file's text.
        literal: its text.
        left: where that stands which is compared with it: an expression or a word; in C and
            JavaScript, the whole statement. A command is both, as it stands.
        row: which of the comparisons at that place it is for, counted from 0.
        tolerance: how far away from the literal the answer may be.
    """

    language: Language
    start: int
    end: int
    literal: str
    left: tuple[int, int]
    row: int = 0
    tolerance: float = 0.0

    @property
    def is_of_script(self) -> bool:
        """Whether it is a command that must be reached and succeed, and no value."""
        return self.language in ("command", "end")

    @property
    def is_assertion(self) -> bool:
        """Whether it is a statement that is not needed to go on."""
        return self.language in ("c", "javascript")

    @property
    def is_statement(self) -> bool:
        """Whether only that it was met is known, and not the value that was given."""
        return self.is_assertion or self.language == "command"

    def moved(self, places: Sequence[int]) -> Expectation:
        """The same in another text.

        Args:
            places: where each character of this text stands there, and where it ends.
        """
        start, end, *left = (places[at] for at in (self.start, self.end, *self.left))
        return replace(self, start=start, end=end, left=(left[0], left[1]))
