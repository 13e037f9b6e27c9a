"""The engine `process`: a child process for each run, which outlives whoever submitted it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

from .. import errors
from ..contracts.engine import Engine, EngineHost
from ..errors import RetraiError
from ..plugins.aside import start_aside

_SPARE_LIMIT_S = 5.0


class ProcessEngine(Engine):
    """Starts `python -m retrai_core.session.worker` for each run; one that has imported the loop
    waits for the next. A child holds its run's claim and writes the store itself."""

    name = "process"
    summary = "a process for each run, which goes on when its frontend ends"

    def __init__(self, options: Any, host: EngineHost) -> None:
        super().__init__(options, host)
        self._spare = _start_child()

    def submit(self, run_id: str) -> asyncio.Future[None]:
        """Hand the run to the child that waits, and have another one wait."""
        child, self._spare = self._spare, _start_child()
        if child.poll() is not None:  # somebody has killed it
            child = _start_child()
        return asyncio.ensure_future(self._executed(child, run_id))

    async def aclose(self) -> None:
        """End the child that waits; those that work go on."""
        assert self._spare.stdin is not None
        self._spare.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_SPARE_LIMIT_S):
                await start_aside(self._spare.wait)
        if self._spare.poll() is None:
            self._spare.kill()
            self._spare.wait()
        assert self._spare.stdout is not None
        self._spare.stdout.close()

    async def _executed(self, child: subprocess.Popen[bytes], run_id: str) -> None:
        folder = self.host.state / "runs" / run_id
        job = {
            "run_id": run_id,
            "store": self.host.store.name,
            "output": str(folder / "worker.log"),
            "environ": {**os.environ, "RETRAI_STATE_DIR": str(self.host.state)},
        }
        code, report = await start_aside(lambda: _work_through(child, job))
        if report:
            error = json.loads(report)
            kind: type[RetraiError] = getattr(errors, error["type"], RetraiError)
            raise kind(error["message"], hint=error["hint"])
        if code != 0:
            await self.host.note_killed(run_id, f"its process ended with exit code {code}")


def _start_child() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C ends the frontend, not its runs
    )


def _work_through(child: subprocess.Popen[bytes], job: dict[str, Any]) -> tuple[int, bytes]:
    """Give the child its job and wait for its end: the exit code, and what it reports."""
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(OSError):  # it was killed; the exit code says so
        child.stdin.write(json.dumps(job).encode() + b"\n")
        child.stdin.flush()
    report = child.stdout.readline()
    code = child.wait()
    with suppress(OSError):
        child.stdin.close()
    child.stdout.close()
    return code, report
