"""What the first check saw, kept in the run's own folder, outside the project."""

from __future__ import annotations

from retrai_goal_support import SavedModel

from .database.jobs import Answer, TableState

NAME = "sql-benchmark.json"


class FirstAnswer(SavedModel):
    """What later checks are held against.

    Attributes:
        query: the text of the query before the first turn.
        tables: what it reads, as it was then; None where the first check could not see it.
        answer: its rows; None while it has not yet ended within its time.
    """

    query: str
    tables: dict[str, TableState] | None
    answer: Answer | None = None
