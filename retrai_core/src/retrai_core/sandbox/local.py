"""The sandbox without walls: clean environment, limits, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, ClassVar

from pydantic import Field

from ..contracts.context import RunContext
from ..contracts.sandbox import Completed, Limits, Sandbox, SandboxOptions, View
from ..errors import ToolError
from .environment import clean_environment
from .output import OutputPipe
from .protocol import KILL_TIMEOUT_S
from .supervisor import Command, Ended, Supervisor


class LocalOptions(SandboxOptions):
    """Options of the `local` sandbox."""

    pass_env: list[str] = Field(
        default_factory=list,
        description="more environment variables that commands see: names, or patterns like `DB_*`",
    )
    grace_s: float = Field(
        default=2.0, ge=0, description="seconds between SIGTERM and SIGKILL at a time-out"
    )
    cpu_s: int | None = Field(default=None, gt=0, description="CPU seconds of each process")
    memory_bytes: int | None = Field(
        default=None, gt=0, description="address space of each process, in bytes"
    )
    file_bytes: int | None = Field(
        default=None, gt=0, description="size of each file that a process writes, in bytes"
    )


class LocalSandbox(Sandbox):
    """Runs commands as the user's own processes.

    It does not keep a command from reading or writing what the user can; the `bwrap` plugin does.
    What it gives: an environment by allow-list, no terminal, bounded output, limits, and the end of
    every descendant (on Linux also of daemons that left the process group; on macOS of the process
    group) when the command ends, runs out of time or is cancelled, or when retrai is killed.
    `writable`, `readable` and `view` change nothing here.
    """

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "the user's own processes, with limits and a clean environment"
    Options: type[SandboxOptions] = LocalOptions
    wraps: ClassVar[bool] = False
    """Whether a sandbox that builds on this one runs commands through a program of its own, which
    is not to be ended when a command is asked to end."""

    joins: Sequence[str] = ()
    """The `cgroup.procs` files of the control groups that commands shall be in."""

    opens: Mapping[int, str] = MappingProxyType({})
    """Files that commands shall find open for reading, by descriptor (above 31)."""

    streams_owner: tuple[int, int] | None = None
    """The user and group that commands are, where root lets them be another user: who opens
    `/dev/stderr` opens the pipe anew, which its owner may."""

    def __init__(self, options: Any, context: RunContext) -> None:
        super().__init__(options, context)
        # A sandbox that builds on this one may have options of its own beside these.
        known = isinstance(options, LocalOptions)
        self._settings = options if known else LocalOptions.model_validate(options.model_dump())
        self._supervisor = Supervisor()
        self._running: set[Command] = set()

    async def run(
        self,
        command: Sequence[str] | str,
        *,
        timeout_s: float,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdin: bytes | None = None,
        writable: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        view: View | None = None,
    ) -> Completed:
        """Run a program or a shell line; see `Sandbox.run`."""
        settings = self._settings
        variables = clean_environment(os.environ, self.context.python, settings.pass_env)
        variables.update(env or {})
        argv = _argv(command, variables)
        asked = limits or Limits()
        started = time.monotonic()
        out, err = OutputPipe(asked.output_bytes), OutputPipe(asked.output_bytes)
        running: Command | None = None
        try:
            with _input(stdin) as source:
                if self.streams_owner is not None:
                    for stream in (*([source.fileno()] if stdin else []), out.writer, err.writer):
                        os.fchown(stream, *self.streams_owner)
                running = self._supervisor.start(
                    argv,
                    cwd=cwd or self.context.project,
                    env=variables,
                    limits=_limits(settings, asked),
                    grace_s=settings.grace_s,
                    streams=(source.fileno(), out.writer, err.writer),
                    wraps=self.wraps,
                    joins=self.joins,
                    opens=self.opens,
                )
            out.close_writer()
            err.close_writer()
            self._running.add(running)
            ended, timed_out = await self._finish(running, timeout_s)
            note = f"[{ended.left} processes could not be ended]\n" if ended.left else ""
            return Completed(
                exit_code=ended.exit_code,
                stdout=out.finish(),
                stderr=err.finish() + note,
                timed_out=timed_out,
                duration_s=time.monotonic() - started,
            )
        finally:
            if running is not None:
                self._running.discard(running)
                running.close()
            out.close()
            err.close()

    async def _finish(self, running: Command, timeout_s: float) -> tuple[Ended, bool]:
        """Wait for the command's end, or bring it about; whether its time had run out."""
        try:
            ended = await running.wait(timeout_s)
            if ended is not None:
                return ended, False
            running.order(kill=False)
            ended = await running.wait(self._settings.grace_s + 2 * KILL_TIMEOUT_S)
        except BaseException:
            # Cancelled: whoever waits for us may rely on it that nothing runs any more.
            await running.kill()
            raise
        if ended is None:
            raise ToolError("the command ran out of time and could not be ended")
        return ended, True

    async def aclose(self) -> None:
        """End what is still running, and the helper process."""
        for running in list(self._running):
            await running.kill()
        await self._supervisor.aclose()


def _argv(command: Sequence[str] | str, env: Mapping[str, str]) -> list[str]:
    if isinstance(command, str):
        shell = shutil.which("bash", path=env["PATH"]) or shutil.which("sh", path=env["PATH"])
        if shell is None:
            raise ToolError("neither bash nor sh is on PATH")
        argv = [shell, "-c", command]
    else:
        argv = [str(part) for part in command]
    if not argv or not argv[0]:
        raise ToolError("the command is empty")
    if any("\0" in part for part in argv):
        raise ToolError("the command holds a NUL byte")
    return argv


def _limits(settings: LocalOptions, asked: Limits) -> dict[str, int]:
    chosen = {
        "cpu_s": asked.cpu_s or settings.cpu_s,
        "memory_bytes": asked.memory_bytes or settings.memory_bytes,
        "file_bytes": asked.file_bytes or settings.file_bytes,
    }
    # Core dumps would land in the project.
    return {"core_bytes": 0, **{name: value for name, value in chosen.items() if value}}


def _input(data: bytes | None) -> IO[bytes]:
    """What the command reads, as an open file: a pipe could block us while it does not read."""
    file = tempfile.TemporaryFile() if data else open(os.devnull, "rb")  # noqa: SIM115
    if data:
        file.write(data)
        file.seek(0)
    return file
