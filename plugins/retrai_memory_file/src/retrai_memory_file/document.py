"""What `memory.json` holds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION = 1


class Entry(BaseModel):
    """One strategy.

    Attributes:
        goal: the goal's name.
        pattern: what worked, without counts, so that the same strategy reads the same.
        note: what the model of the last successful run said about it.
        success_count: runs that achieved the goal with it.
        failure_count: runs that were shown it and failed.
    """

    # What a later 0.x adds to an entry is kept when an older one writes the file.
    model_config = ConfigDict(extra="allow")

    goal: str
    pattern: str
    note: str = ""
    success_count: int = Field(default=1, ge=0)
    failure_count: int = Field(default=0, ge=0)

    @property
    def key(self) -> tuple[str, str]:
        """What makes two entries the same strategy: case and blanks make no difference."""
        return self.goal, " ".join(self.pattern.casefold().split())

    @property
    def id(self) -> str:
        """Eight hexadecimal digits of the key's hash: the same as long as the strategy is."""
        return hashlib.sha256("\0".join(self.key).encode(errors="replace")).hexdigest()[:8]

    @property
    def is_told(self) -> bool:
        """Whether a run is told it: from two outcomes on it must have worked more often than not.

        Example:
            >>> Entry(goal="pytest", pattern="p", success_count=1, failure_count=1).is_told
            False
        """
        is_new = self.success_count + self.failure_count < 2
        return is_new or self.success_count > self.failure_count

    @property
    def confidence(self) -> float:
        """Between 0 and 1: the success rate, held down while there is little evidence.

        The extra 1 counts as a failure that has not happened yet, so one success is 0.5 and only
        many come near 1; without it one lucky run would stand above twenty of twenty-one.

        Example:
            >>> Entry(goal="pytest", pattern="p", success_count=1).confidence
            0.5
            >>> Entry(goal="pytest", pattern="p", success_count=3, failure_count=1).confidence
            0.6
        """
        return self.success_count / (self.success_count + self.failure_count + 1)


class Document(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="allow")

    version: Literal[1] = VERSION
    strategies: list[Entry] = []

    def best(self, goal: str, count: int) -> list[Entry]:
        """The `count` most trusted strategies for a goal, of those that may be told."""
        told = (entry for entry in self.strategies if entry.goal == goal and entry.is_told)
        return by_confidence(told)[:count]

    def knows(self, learned: Entry) -> bool:
        """Whether a strategy is there already."""
        return any(entry.key == learned.key for entry in self.strategies)

    def add_success(self, learned: Entry) -> None:
        """Count one more success for a strategy, which is new or known."""
        known = next((entry for entry in self.strategies if entry.key == learned.key), None)
        if known is None:
            self.strategies.append(learned)
            return
        known.success_count += 1
        known.note = learned.note or known.note

    def add_failures(self, shown: Iterable[tuple[str, str]]) -> None:
        """Count a failure for each strategy with one of these keys."""
        keys = set(shown)
        for entry in self.strategies:
            if entry.key in keys:
                entry.failure_count += 1

    def forget(self, ids: Collection[str]) -> int:
        """Drop the entries with these ids; how many there were."""
        kept = [entry for entry in self.strategies if entry.id not in ids]
        dropped = len(self.strategies) - len(kept)
        self.strategies = kept
        return dropped

    def forget_beyond(self, count: int) -> None:
        """Keep the `count` most trusted strategies, in the order in which they were learned."""
        if len(self.strategies) <= count:
            return
        # The newest has had no chance yet to earn its place, so it always stays.
        newest = self.strategies[-1:]
        kept = by_confidence(self.strategies[:-1])[: max(count - 1, 0)]
        keys = {entry.key for entry in kept + newest}
        self.strategies = [entry for entry in self.strategies if entry.key in keys]


def by_confidence(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(
        entries, key=lambda entry: (-entry.confidence, -entry.success_count, entry.pattern)
    )
