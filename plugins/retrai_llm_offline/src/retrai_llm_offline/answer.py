"""What the search's worker answers, parsed once."""

from __future__ import annotations

from itertools import takewhile, zip_longest
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

MARK = "RETRAI-OFFLINE "

End = Literal[
    "done",
    "no-tests",
    "no-pytest",
    "out-of-budget",
    "nothing-found",
    "collection-errors",
    "no-answer",
]


class Step(BaseModel):
    """A change to one file, in one or two places, after which failing tests pass and none breaks.

    Attributes:
        line: where the first edit is.
        lines: where each is.
    """

    path: str
    line: int
    lines: list[int] = Field(default_factory=list[int])
    function: str = ""
    kind: str
    key: str = ""
    patches: list[tuple[str, str]]
    fixed: list[str] = Field(default_factory=list[str])

    @property
    def places(self) -> list[str]:
        """Each place as `PATH:LINE`."""
        return [f"{self.path}:{line}" for line in self.lines or [self.line]]


class SearchRound(BaseModel):
    """What one round of the search looked at."""

    group: int = 0
    singles: int = 0
    pairs: int = 0
    partial: int = 0
    found: bool = False
    suspects: list[tuple[str, int]] = Field(default_factory=list[tuple[str, int]])


class Answer(BaseModel):
    """The outcome of one search; `state` lets a later one go on from there."""

    end: End
    problem: str = ""
    steps: list[Step] = Field(default_factory=list[Step])
    rounds: list[SearchRound] = Field(default_factory=list[SearchRound])
    failing: list[str] = Field(default_factory=list[str])
    tests: int = 0
    errors: dict[str, str] = Field(default_factory=dict[str, str])
    tried: int = 0
    cpu_s: float = 0.0
    state: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def suspects(self) -> list[tuple[str, int]]:
        """The most suspicious lines, of each group of tests that is left the first first."""
        left = list(takewhile(lambda search: not search.found, reversed(self.rounds)))
        ranked = zip_longest(*(search.suspects for search in reversed(left)))
        return list(dict.fromkeys(place for places in ranked for place in places if place))


class Effort(BaseModel):
    """What one search or several tried."""

    searches: int = 0
    tried: int = 0
    pairs: int = 0
    cpu_s: float = 0.0

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """That of one search."""
        pairs = sum(search.pairs for search in answer.rounds)
        return cls(searches=1, tried=answer.tried, pairs=pairs, cpu_s=answer.cpu_s)

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            searches=self.searches + other.searches,
            tried=self.tried + other.tried,
            pairs=self.pairs + other.pairs,
            cpu_s=self.cpu_s + other.cpu_s,
        )


def parse(stdout: str) -> Answer | None:
    """The marked line of the worker's output, or None where there is none."""
    for line in reversed(stdout.splitlines()):
        if line.startswith(MARK):
            return Answer.model_validate_json(line.removeprefix(MARK))
    return None
