"""What the search's worker answers, parsed once."""

from __future__ import annotations

from typing import Any, Literal

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
    """One edit of one file that turns failing tests green and breaks none."""

    path: str
    line: int
    function: str = ""
    kind: str
    key: str = ""
    patches: list[tuple[str, str]]
    fixed: list[str] = Field(default_factory=list[str])


class SearchRound(BaseModel):
    """What one round of the search looked at."""

    group: int = 0
    singles: int = 0
    pairs: int = 0
    partial: int = 0
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
        """The most suspicious lines of the last round, as path and line."""
        return self.rounds[-1].suspects if self.rounds else []


def parse(stdout: str) -> Answer | None:
    """The marked line of the worker's output, or None where there is none."""
    for line in reversed(stdout.splitlines()):
        if line.startswith(MARK):
            return Answer.model_validate_json(line.removeprefix(MARK))
    return None
