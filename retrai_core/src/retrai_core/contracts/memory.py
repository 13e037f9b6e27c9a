"""A memory store: keeps strategies that worked for later runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Literal

from pydantic import BaseModel, ConfigDict

from ..errors import UsageError
from .context import RunContext
from .models import OptionsT, TakesModels


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy that worked before.

    Attributes:
        goal: the goal's name.
        pattern: one or two sentences for the model.
        success_count: how many successful runs used it.
        confidence: between 0 and 1; the prompt shows the highest first.
        id: what `retrai memory forget` calls it, short and unique in its store; only `entries`
            must give one.
    """

    goal: str
    pattern: str
    success_count: int = 1
    confidence: float = 0.5
    id: str = ""


InsightKind = Literal["worked", "avoid", "project", "tools"]


@dataclass(frozen=True, slots=True)
class Insight:
    """What the model says that a run teaches.

    Attributes:
        kind: what worked, what to avoid, or something about the project or the tools.
        text: one sentence for a later model.
    """

    kind: InsightKind
    text: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a memory store can learn from a finished run.

    Attributes:
        goal: the goal's name.
        project: the project's absolute path.
        outcome: `achieved`, `failed`, ...
        failure: the baseline's one-line reason (what was wrong at first).
        changed_files: relative paths that the run changed, sorted.
        tools_used: tool names in the order of their first use.
        notes: what the model said last, shortened.
        insights: what the model makes of the run, at most three; also of one that failed.
    """

    goal: str
    project: Path
    outcome: str
    failure: str
    changed_files: Sequence[str] = ()
    tools_used: Sequence[str] = ()
    notes: str = ""
    insights: Sequence[Insight] = ()


class MemoryOptions(BaseModel):
    """Base of a store's options; they come from `plugins: {STORE: {...}}`."""

    model_config = ConfigDict(extra="forbid")


class MemoryStore(TakesModels, ABC, Generic[OptionsT]):
    """Recalls strategies at the start of a run, and learns at its end.

    Example:
        >>> import asyncio
        >>> from pathlib import Path
        >>> class Forgetful(MemoryStore):
        ...     name = "forgetful"
        ...     async def recall(self, goal, project):
        ...         return []
        ...     async def learn(self, outcome):
        ...         pass
        >>> asyncio.run(Forgetful(MemoryOptions(), context=None).recall("pytest", Path(".")))
        []
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})
    Options: type[MemoryOptions] = MemoryOptions

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    async def recall(self, goal: str, project: Path) -> Sequence[Strategy]:
        """Strategies for `goal`, best first; an unreadable store is a warning event, no error."""

    @abstractmethod
    async def learn(self, outcome: RunOutcome) -> None:
        """Take over what a finished run teaches; runs that end side by side lose no entry."""

    async def entries(self, project: Path) -> Sequence[Strategy]:
        """All that runs in `project` may be told, each with its id, sorted by goal, best first.

        Raises:
            UsageError: this store cannot list what it keeps, which is what it says by default.
            RetraiError: what it keeps cannot be read.
        """
        raise self._cannot("list")

    async def forget(self, project: Path, ids: Sequence[str]) -> int:
        """Drop these entries; how many were there. An id that is not known is passed over.

        Args:
            project: as for `entries`.
            ids: as `entries` gives them.

        Raises:
            UsageError: this store cannot forget, which is what it says by default.
            RetraiError: what it keeps cannot be changed.
        """
        raise self._cannot("forget")

    def _cannot(self, verb: str) -> UsageError:
        return UsageError(
            f"the memory store {self.name} cannot {verb} what it keeps",
            hint="`memory: NAME` in the configuration takes another store",
        )

    async def aclose(self) -> None:
        """Give back what this store holds; called once, also after a failed run."""
        return None
