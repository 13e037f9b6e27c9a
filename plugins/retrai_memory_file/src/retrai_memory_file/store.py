"""The memory store `file`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import Field

from retrai_core import (
    MemoryOptions,
    MemoryStore,
    RetraiError,
    RunContext,
    RunOutcome,
    Strategy,
)
from retrai_goal_support import prompt_line

from .document import Document, Entry, by_confidence
from .memory_file import MemoryFile, MemoryUnavailableError
from .pattern import entries_of_insights, learned_from

T = TypeVar("T")

MAX_PROMPT_CHARS = 600

SPEAKS_AGAINST = frozenset({"failed", "stuck", "budget", "tampered"})
"""Outcomes of a run that had its chance; an aborted, interrupted or broken one had not."""


class FileMemoryOptions(MemoryOptions):
    """How much is kept and told."""

    max_recalled: int = Field(default=5, ge=0)
    """Maximum strategies given to a run, most trusted first."""

    max_entries: int = Field(default=200, ge=1)
    """Maximum strategies in the file; the least trusted are removed first."""


class FileMemory(MemoryStore[FileMemoryOptions]):
    """Keeps strategies in `.retrai/memory.json` of the project.

    Example:
        >>> import asyncio, tempfile
        >>> from pathlib import Path
        >>> store = FileMemory(FileMemoryOptions(), context=None)
        >>> asyncio.run(store.recall("pytest", Path(tempfile.mkdtemp())))
        []
    """

    name: ClassVar[str] = "file"
    summary: ClassVar[str] = "keeps strategies that worked in .retrai/memory.json of the project"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})

    def __init__(self, options: FileMemoryOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._shown: list[tuple[str, str]] = []

    async def recall(self, goal: str, project: Path) -> Sequence[Strategy]:
        """The most trusted strategies for `goal`; a file that cannot be read is a warning."""
        memory = MemoryFile(project)
        document = await self._in_thread(memory, memory.read) or Document()
        best = document.best(goal, self.options.max_recalled)
        self._shown = [entry.key for entry in best]
        return [as_strategy(entry) for entry in best]

    async def learn(self, outcome: RunOutcome) -> None:
        """Count a success for what an achieved run did, a failure for what a failed one saw; keep
        what the model says that either teaches."""
        memory = MemoryFile(outcome.project)
        worked = learned_from(outcome) if outcome.outcome == "achieved" else None
        learned = [*([worked] if worked else []), *entries_of_insights(outcome)]
        shown = self._shown if outcome.outcome in SPEAKS_AGAINST else []
        if not learned and not shown:
            return

        def change(document: Document) -> None:
            document.add_failures(shown)
            for entry in learned:
                # What a failed run says again has not worked once more.
                if outcome.outcome == "achieved" or not document.knows(entry):
                    document.add_success(entry)
            document.forget_beyond(self.options.max_entries)

        await self._in_thread(memory, lambda: memory.change(change))

    async def entries(self, project: Path) -> Sequence[Strategy]:
        """Every strategy in the project's file, by goal, the most trusted first."""
        document = await self._by_command(project, lambda memory: memory.read())
        ordered = sorted(by_confidence(document.strategies), key=lambda entry: entry.goal)
        return [replace(as_strategy(entry), id=entry.id) for entry in ordered]

    async def forget(self, project: Path, ids: Sequence[str]) -> int:
        """Drop these entries from the project's file."""
        forgotten = 0

        def change(document: Document) -> None:
            nonlocal forgotten
            forgotten = document.forget(set(ids))

        await self._by_command(project, lambda memory: memory.change(change))
        return forgotten

    async def _by_command(self, project: Path, work: Callable[[MemoryFile], T]) -> T:
        """File work that a person asked for: what goes wrong is an error and not a warning."""
        memory = MemoryFile(project)
        try:
            return await asyncio.to_thread(work, memory)
        except MemoryUnavailableError as error:
            raise RetraiError(str(error)) from error
        finally:
            for warning in memory.warnings:
                self._warn(warning)

    async def _in_thread(self, memory: MemoryFile, work: Callable[[], T]) -> T | None:
        """Do file work off the event loop; what goes wrong with the file is only a warning."""
        try:
            return await asyncio.to_thread(work)
        except MemoryUnavailableError as error:
            memory.warnings.append(str(error))
            return None
        finally:
            for warning in memory.warnings:
                self._warn(warning)

    def _warn(self, message: str) -> None:
        if self.context:
            self.context.publish("log", level="warning", message=f"memory: {message}")


def as_strategy(entry: Entry) -> Strategy:
    """An entry as the model is told; the file may have been edited, so the text is made tidy."""
    text = f"{entry.pattern} {entry.note}" if entry.note else entry.pattern
    return Strategy(
        goal=entry.goal,
        pattern=prompt_line(text, MAX_PROMPT_CHARS),
        success_count=entry.success_count,
        confidence=entry.confidence,
    )
