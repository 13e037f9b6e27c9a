"""What a goal notes when a run begins, and compares with later: a model in a JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError


class SavedModel(BaseModel):
    """A model that a file in the run's folder holds, so that a resumed run has it too.

    Example:
        >>> import tempfile
        >>> class Sizes(SavedModel):
        ...     bytes_of: dict[str, int] = {}
        >>> with tempfile.TemporaryDirectory() as run_dir:
        ...     place = Path(run_dir) / "sizes.json"
        ...     Sizes(bytes_of={"a.txt": 3}).save(place)
        ...     Sizes.load(place)
        Sizes(bytes_of={'a.txt': 3})
    """

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read it; None where there is none, or it is cut off or of another version."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save(self, path: Path) -> None:
        """Write it, whole or not at all: what a killed run noted by half would be noted anew."""
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f"{path.name}.new")
        half.write_text(self.model_dump_json(), encoding="utf-8")
        half.replace(path)
