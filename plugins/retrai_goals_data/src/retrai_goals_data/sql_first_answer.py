"""What the first check saw, kept in the run's own folder, outside the project."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from .database.jobs import Answer, TableState

NAME = "sql-benchmark.json"


class FirstAnswer(BaseModel):
    """What later checks are held against.

    Attributes:
        query: the text of the query before the first turn.
        tables: what it reads, as it was then; None where the first check could not see it.
        answer: its rows; None while it has not yet ended within its time.
    """

    query: str
    tables: dict[str, TableState] | None
    answer: Answer | None = None

    @classmethod
    def load(cls, folder: Path) -> FirstAnswer | None:
        """What was kept; None before the first check."""
        try:
            return cls.model_validate_json((folder / NAME).read_text("utf-8"))
        except FileNotFoundError:
            return None

    def save(self, folder: Path) -> None:
        """Keep it."""
        folder.mkdir(parents=True, exist_ok=True)
        half = folder / f"{NAME}.new"
        half.write_text(self.model_dump_json(), "utf-8")
        half.replace(folder / NAME)
