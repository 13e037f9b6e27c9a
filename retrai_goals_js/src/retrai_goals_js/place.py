"""Options that both goals here have."""

from __future__ import annotations

from pydantic import Field

from retrai_goal_support import FolderOptions


class PlaceOptions(FolderOptions):
    """Where a check runs, and how long it may take."""

    timeout_s: float = Field(default=300.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one run of the whole suite."""
