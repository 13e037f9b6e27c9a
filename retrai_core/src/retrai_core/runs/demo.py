"""The demo: a small broken project, and the request for a run that fixes it without a key."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from .manager import RunManager
    from .request import RunRequest

QUICKSTART = Path(__file__).parent / "quickstart"


async def prepare_demo(manager: RunManager, folder: Path, settings: dict[str, Any]) -> RunRequest:
    """Copy the project and prepare the run: see `RunManager.demo`."""
    leave_out = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    try:
        await asyncio.to_thread(shutil.copytree, QUICKSTART, folder, ignore=leave_out)
    except OSError as error:
        raise UsageError(
            f"the demo cannot be copied to {folder}: {error.strerror or error}"
        ) from error
    given: dict[str, Any] = {
        "model": "offline",
        # The copy has no environment of its own, and the python3 on PATH may have no pytest.
        "python": sys.executable,
        # LangSmith comes with LangChain and hooks itself into every pytest of our environment:
        # 1.7 s of processor time each, three quarters of such a small suite's.
        "options": {"args": ["-p", "no:langsmith_plugin"]},
    }
    return await manager.prepare(folder, **{**given, **settings})
