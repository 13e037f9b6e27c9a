"""Options that every goal here has."""

from __future__ import annotations

from pydantic import Field

from retrai_goal_support import FolderOptions


class PlaceOptions(FolderOptions):
    """Where a check runs, and how long it may take."""

    timeout_s: float = Field(default=600.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one whole check."""
