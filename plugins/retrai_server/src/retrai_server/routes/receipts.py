"""Where retrai-receipts is not installed: its routes say how to get it."""

from __future__ import annotations

from fastapi import APIRouter

from ..errors import ApiError, Json
from ..schemas import RunId

router = APIRouter(prefix="/api/runs/{run_id}", include_in_schema=False)


@router.get("/receipt")
@router.post("/verify")
async def missing(run_id: RunId) -> Json:
    """A plugin's routes come first, so that this one is asked only without it."""
    raise ApiError(
        404,
        "PluginNotInstalled",
        "receipts are made and verified by retrai-receipts, which is not installed",
        hint="`pip install retrai-receipts`",
    )
