"""The engine `process`: a child process for each run, which outlives the submitter."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from typing import Any

from .. import errors
from ..contracts.engine import Engine, EngineHost
from ..errors import RetraiError
from ..plugins.daemon_call import start_aside

_Child = subprocess.Popen[bytes]


class ProcessEngine(Engine):
    """Starts `python -m retrai_core.runs.worker` for each run; a spare process with the loop
    imported waits for the next run. A child holds the claim of its run and writes to the store
    itself."""

    name = "process"
    summary = "one process per run, which outlives its frontend"

    def __init__(self, options: Any, host: EngineHost) -> None:
        super().__init__(options, host)
        self._watching: set[asyncio.Task[None]] = set()
        self._spare: _Child | None = None
        self._replace_spare()

    def submit(self, run_id: str) -> asyncio.Future[None]:
        """Hand the run to the child that waits, and have another one wait."""
        child, self._spare = self._spare, None
        if child is not None and child.poll() is not None:  # somebody has killed it
            _close(child)
            child = None
        watching = asyncio.ensure_future(self._executed(child, run_id))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        return asyncio.shield(watching)  # who goes away does not end the watch

    async def aclose(self) -> None:
        """End the child that waits; those that work go on, and nobody waits for them."""
        child, self._spare = self._spare, None
        if child is not None:
            child.kill()
            await start_aside(child.wait)
            _close(child)
        for watching in (left := set(self._watching)):
            watching.cancel()
        if left:
            await asyncio.wait(left)

    def _replace_spare(self) -> None:
        if self._spare is None:
            with suppress(OSError):  # the run that needs it says so
                self._spare = _start_child()

    async def _executed(self, child: _Child | None, run_id: str) -> None:
        folder = self.host.state / "runs" / run_id
        job = {
            "run_id": run_id,
            "store": self.host.store.name,
            "output": str(folder / "worker.log"),
            "environ": {**os.environ, "RETRAI_STATE_DIR": str(self.host.state)},
        }
        before = await self._last_part(run_id)
        has_begun, report = False, b""
        try:
            # A child that was killed while it waited never knew of the run: another one follows.
            for each in (child, None):
                code, report = await self._work_through(each or _start_child(), job)
                has_begun = code == 0 or bool(report) or await self._last_part(run_id) != before
                if has_begun:
                    break
            reason = _how_it_ended(code)
        except OSError as error:
            reason = f"no process can be started for it: {error.strerror or error}"
        error = _error_of(report) if report else None
        await self.host.note_killed(run_id, reason if error is None else str(error))
        if error is None and before is not None and not has_begun:
            error = RetraiError(
                f"run {run_id} did not go on: {reason}", hint=f"`retrai runs resume {run_id}`"
            )
        if error is not None:
            raise error

    async def _work_through(self, child: _Child, job: dict[str, Any]) -> tuple[int, bytes]:
        """Give the child its job and wait for its end: the exit code, and what it reports."""
        await start_aside(partial(_give, child, job))
        self._replace_spare()  # not before: two that import at once take twice as long
        return await start_aside(partial(_report, child))

    async def _last_part(self, run_id: str) -> float | None:
        """When somebody has begun to work on the run, the last time; None for never."""
        with suppress(RetraiError):  # it is gone
            return (await self.host.store.load(run_id)).part_started_at
        return None


def _start_child() -> _Child:
    return subprocess.Popen(
        # -P: what lies in the current folder, a project's perhaps, is not imported.
        [sys.executable, "-P", "-m", f"{__package__}.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C ends the frontend, not its runs
    )


def _give(child: _Child, job: dict[str, Any]) -> None:
    """Give the child its job; returns when it has finished its imports, and begins."""
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(OSError):  # it was killed; the exit code says so
        child.stdin.write(json.dumps(job).encode() + b"\n")
        child.stdin.flush()
    child.stdout.readline()


def _report(child: _Child) -> tuple[int, bytes]:
    assert child.stdout is not None
    report = child.stdout.readline()
    code = child.wait()
    _close(child)
    return code, report


def _close(child: _Child) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # what it did not read
                pipe.close()


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    return f"its process was killed ({signal.Signals(-code).name})"


def _error_of(report: bytes) -> RetraiError:
    """The error that a child reports, with all it says."""
    said = json.loads(report)
    kind: type[RetraiError] = getattr(errors, said["type"])
    error = kind.__new__(kind, said["attributes"]["message"])
    vars(error).update(said["attributes"])
    return error
