"""`python -m`: waits for one run on standard input, works on it, and ends.

The engine sends one line of JSON: the run's id, the store's name, a file for the output of plugins,
and the environment. The worker prints one line when the work begins, or a line of JSON with the
reason why the run could not begin.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrai_core.errors import RetraiError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NEEDED = (
    "retrai_core.runs.executor",
    "retrai_core.runs.manager",
    "retrai_core.storage.files",
    "retrai_core.storage.checkpoints",
    "retrai_core.agents.goal_loop.graph",
    "retrai_core.agents.goal_loop.plan",
    "retrai_core.agents.goal_loop.act",
    "retrai_core.agents.goal_loop.evaluate",
    "retrai_core.agents.goal_loop.human_check",
    "retrai_core.runs.agent_run",
    "retrai_core.plugins.registry",
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
        print("begun", file=report, flush=True)
    _redirect(job["output"])
    from retrai_core.errors import RetraiError
    from retrai_core.runs.event_loop import run_to_end

    said = ""
    try:
        run_to_end(_execute(job))
    except RetraiError as error:
        said = _report_of(error)
    with suppress(OSError), report:  # whoever would hear it has ended
        report.write(said)
    return 0


def _redirect(output: str) -> None:
    """Let what plugins and their children print go to a file, and let them read nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:  # a store that makes no folder; the executor does, later
        file = os.dup(nothing)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(file)


def _report_of(error: RetraiError) -> str:
    """The error as a line of JSON, under the nearest class that the reader knows."""
    from retrai_core import errors

    names = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == errors.__name__]
    return json.dumps({"type": names[0], "attributes": vars(error)}, default=str) + "\n"


async def _execute(job: dict[str, Any]) -> None:
    from retrai_core.runs.manager import RunManager
    from retrai_core.runs.open_parts import open_store

    async with RunManager(open_store(job["store"]), "inline", tell=print) as manager:
        task = asyncio.ensure_future(manager.execute(job["run_id"]))

        def stop() -> None:
            if not task.cancelling():  # a second signal must not cut off what the first began
                task.cancel()

        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, stop)
        await task


if __name__ == "__main__":
    sys.exit(main())
