"""What a goal notes when a run begins, in the run's own folder, and compares with later."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError


class Kept(BaseModel):
    """Base of what is noted, one JSON file each."""

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """What was kept in `path`; None when nothing was."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save(self, path: Path) -> None:
        """Keep it in `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(), encoding="utf-8")
