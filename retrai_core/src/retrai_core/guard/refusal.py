"""A change of what the check relies on, as it is told and counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that was refused or undone: the path, and why in plain words."""

    path: str
    reason: str

    def __str__(self) -> str:
        named = self.reason.startswith(self.path)
        return self.reason if named else f"{self.path}: {self.reason}"
