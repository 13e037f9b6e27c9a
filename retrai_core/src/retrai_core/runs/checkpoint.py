"""Until everybody asks the store: `storage.checkpoints` under its old name."""

from __future__ import annotations

from ..storage.checkpoints import Checkpoints, open_checkpoints

__all__ = ["Checkpoints", "open_checkpoints"]
