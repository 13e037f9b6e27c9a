"""A refused change to files of the check, as it is reported and counted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that was refused or undone: the path, and the reason in plain words.

    Attributes:
        kept: where what stood there is, outside of the project.
    """

    path: str
    reason: str
    kept: Path | None = None

    def describe(self) -> str:
        """The refusal, with where the removed content is kept."""
        return f"{self} (kept: {self.kept})" if self.kept is not None else str(self)

    def __str__(self) -> str:
        named = self.reason.startswith(self.path)
        return self.reason if named else f"{self.path}: {self.reason}"
