"""The state folder: retrai's data that belongs to the user and not to a project."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def state_dir() -> Path:
    """The user's state folder for retrai; `RETRAI_STATE_DIR` names another."""
    return Path(os.environ.get("RETRAI_STATE_DIR") or platformdirs.user_state_dir("retrai"))
