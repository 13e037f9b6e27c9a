"""The engine `inline`: runs execute in the caller's event loop, and end with it."""

from __future__ import annotations

import asyncio
from typing import Any

from ..contracts.engine import Engine, EngineHost

_STOP_LIMIT_S = 60.0
"""For a run that is stopped to put back what it must."""


class InlineEngine(Engine):
    """Executes each run in a task of its own."""

    name = "inline"
    summary = "runs in the caller's process and ends with it"

    def __init__(self, options: Any, host: EngineHost) -> None:
        super().__init__(options, host)
        self._tasks: set[asyncio.Future[None]] = set()

    def submit(self, run_id: str) -> asyncio.Future[None]:
        """Execute the run in a task."""
        task = asyncio.ensure_future(self.host.execute(run_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return asyncio.shield(task)  # who goes away does not end the run

    async def aclose(self) -> None:
        """End what still runs as `interrupted`."""
        for task in (left := set(self._tasks)):
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_STOP_LIMIT_S)
