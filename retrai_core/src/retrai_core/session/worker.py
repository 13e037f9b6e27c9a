"""`python -m`: waits for one run on standard input, works on it, and ends.

What the engine sends is a line of JSON: the run's id, the store's name, a file for what plugins
print, and the environment. What kept the run from beginning is reported on standard output, as a
line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NEEDED = (
    "retrai_core.session.executor",
    "retrai_core.session.manager",
    "retrai_core.storage.files",
    "retrai_core.loop.graph",
    "retrai_core.assembling",
    "langgraph.graph",
    "langgraph.checkpoint.sqlite",
)


def main() -> int:
    """Wait for a run and work on it; the exit code, 0 unless retrai itself is at fault."""
    for name in _NEEDED:
        import_module(name)
    line = sys.stdin.buffer.readline()
    if not line:  # whoever would have used this process has ended
        return 0
    job = json.loads(line)
    os.environ.clear()
    os.environ.update(job["environ"])
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with suppress(OSError):
        output = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
    from retrai_core.errors import RetraiError
    from retrai_core.session.event_loop import run_to_end

    try:
        run_to_end(_execute(job))
    except RetraiError as error:
        said = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
        with suppress(OSError):
            report.write(json.dumps(said) + "\n")
            report.flush()
    with suppress(OSError):
        report.close()
    return 0


async def _execute(job: dict[str, Any]) -> None:
    from retrai_core.session.manager import RunManager
    from retrai_core.session.setting_up import open_store

    async with RunManager(open_store(job["store"]), "inline") as manager:
        task = asyncio.ensure_future(manager.execute(job["run_id"]))
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, task.cancel)
        await task


if __name__ == "__main__":
    sys.exit(main())
