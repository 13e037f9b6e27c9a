"""The memory store `sqlite`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import platformdirs
from pydantic import Field

from retrai_core import (
    MemoryOptions,
    MemoryStore,
    RetraiError,
    RunContext,
    RunOutcome,
    Strategy,
)

from . import entries as table
from .database import MemoryDatabase, MemoryUnavailableError
from .wording import lesson_of, lessons_of_insights, project_text

T = TypeVar("T")

NAME = "memory.sqlite3"
SPEAKS_AGAINST = frozenset({"failed", "stuck", "budget", "tampered"})
"""Outcomes of a run that had its chance; an aborted, interrupted or broken one had not."""


class SqliteMemoryOptions(MemoryOptions):
    """Where it is kept, and how much."""

    path: str = ""
    """The file. Default: `memory.sqlite3` in retrai's state folder of the user."""
    max_recalled: int = Field(default=5, ge=0)
    """Maximum strategies given to a run, best first."""
    max_entries: int = Field(default=2000, ge=1)
    """Maximum strategies in the file; the least trusted are removed first."""


class SqliteMemory(MemoryStore[SqliteMemoryOptions]):
    """Keeps what worked in all of a user's projects in one file.

    Example:
        >>> import asyncio, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> options = SqliteMemoryOptions(path=str(folder / "memory.sqlite3"))
        >>> asyncio.run(SqliteMemory(options, context=None).recall("pytest", folder))
        []
    """

    name: ClassVar[str] = "sqlite"
    summary: ClassVar[str] = "keeps strategies of all your projects in one SQLite file"
    needs: ClassVar[frozenset[str]] = frozenset[str]()

    def __init__(self, options: SqliteMemoryOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._shown: list[str] = []

    async def recall(self, goal: str, project: Path) -> Sequence[Strategy]:
        """The best strategies for `goal`; a file that cannot be read is a warning.

        The rank is trust, likeness of what is wrong now, and whether it was this project.
        """
        failure = self.context.failure if self.context else ""

        def look(connection: sqlite3.Connection) -> list[tuple[float, table.Entry]]:
            count = self.options.max_recalled
            return table.recall(connection, goal, project_text(project), failure, count)

        best = await self._in_thread(lambda memory: memory.read(look, [])) or []
        self._shown = [entry.id for _, entry in best]
        return [as_strategy(entry, rank, project_text(project)) for rank, entry in best]

    async def learn(self, outcome: RunOutcome) -> None:
        """Count a success for what an achieved run did, a failure for what a failed one saw; keep
        what the model says that either teaches."""
        worked = lesson_of(outcome) if outcome.outcome == "achieved" else None
        learned = [*([worked] if worked else []), *lessons_of_insights(outcome)]
        shown = self._shown if outcome.outcome in SPEAKS_AGAINST else []
        if not learned and not shown:
            return

        def change(connection: sqlite3.Connection) -> None:
            table.add_failures(connection, shown)
            for lesson in learned:
                # What a failed run says again has not worked once more.
                if outcome.outcome == "achieved" or not table.knows(connection, lesson):
                    table.add_success(connection, lesson)
            table.forget_beyond(connection, self.options.max_entries)

        await self._in_thread(lambda memory: memory.change(change))

    async def entries(self, project: Path) -> Sequence[Strategy]:
        """Every strategy of the file: a run may be told what was learnt in another project."""
        found = await self._by_command(lambda memory: memory.read(table.every, []))
        return [as_strategy(entry, entry.trust, project_text(project)) for entry in found]

    async def forget(self, project: Path, ids: Sequence[str]) -> int:
        """Drop these entries from the file."""
        return await self._by_command(
            lambda memory: memory.read(lambda connection: table.forget(connection, ids), 0)
        )

    async def _by_command(self, work: Callable[[MemoryDatabase], T]) -> T:
        """Work that a person asked for: what goes wrong is an error and not a warning."""
        memory = MemoryDatabase(self._path())
        try:
            return await asyncio.to_thread(work, memory)
        except MemoryUnavailableError as error:
            raise RetraiError(str(error)) from error
        finally:
            self._warn(memory.warnings)

    async def _in_thread(self, work: Callable[[MemoryDatabase], T]) -> T | None:
        """Work off the event loop; what goes wrong with the file is only a warning."""
        memory = MemoryDatabase(self._path())
        try:
            return await asyncio.to_thread(work, memory)
        except MemoryUnavailableError as error:
            memory.warnings.append(str(error))
            return None
        finally:
            self._warn(memory.warnings)

    def _path(self) -> Path:
        if self.options.path:
            return Path(self.options.path).expanduser()
        state = os.environ.get("RETRAI_STATE_DIR") or platformdirs.user_state_dir("retrai")
        return Path(state) / NAME

    def _warn(self, messages: Sequence[str]) -> None:
        for message in messages if self.context else ():
            self.context.publish("log", level="warning", message=f"memory: {message}")


def as_strategy(entry: table.Entry, confidence: float, project: str) -> Strategy:
    """An entry as the model is told it."""
    elsewhere = "" if entry.project == project else f" in the project {Path(entry.project).name}"
    text = f"When the check said `{entry.failure}`{elsewhere}: {entry.pattern}."
    return Strategy(
        goal=entry.goal,
        pattern=f"{text} {entry.note}" if entry.note else text,
        success_count=entry.success_count,
        confidence=round(confidence, 4),
        id=entry.id,
    )
