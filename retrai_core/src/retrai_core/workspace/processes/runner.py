"""The base of sandboxes: runs commands with limits and a clean environment, and reaps them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO, Unpack

from pydantic import Field

from ...contracts.context import RunContext
from ...contracts.sandbox import CommandOptions, Completed, Limits, SandboxOptions
from ...errors import ToolError
from .environment import clean_environment
from .output import OutputPipe
from .protocol import KILL_TIMEOUT_S, Request
from .supervisor import Command, Ended, Supervisor


class ProcessOptions(SandboxOptions):
    """Options of every sandbox that uses a `ProcessRunner`."""

    pass_env: list[str] = Field(
        default_factory=list,
        description="additional environment variables for commands: names, or patterns like `DB_*`",
    )
    grace_s: float = Field(
        default=2.0, ge=0, description="seconds between SIGTERM and SIGKILL after a time-out"
    )
    cpu_s: int | None = Field(default=None, gt=0, description="maximum CPU seconds of each process")
    memory_bytes: int | None = Field(
        default=None, gt=0, description="maximum address space of each process, in bytes"
    )
    file_bytes: int | None = Field(
        default=None, gt=0, description="maximum size of each file that a process writes, in bytes"
    )


class ProcessRunner:
    """Starts commands for a sandbox, limits them, and reaps all their descendants.

    Commands get an environment by allow-list, no terminal, bounded output and limits. Every
    descendant is ended (on Linux also daemons that left the process group; on macOS the process
    group) when the command ends, runs out of time or is cancelled, or when retrai is killed.

    Args:
        context: the run's: its project is where commands run, its interpreter's environment is
            active in them.
        options: the sandbox's.

    Example:
        >>> import asyncio, sys
        >>> from pathlib import Path
        >>> from retrai_core.workspace.safe_paths import SafeWorkspace
        >>> here = Path.cwd()
        >>> context = RunContext("r1", here, SafeWorkspace(here), sys.executable, here)
        >>> runner = ProcessRunner(context, ProcessOptions())
        >>> asyncio.run(runner.run(["echo", "hello"], timeout_s=10)).stdout
        'hello\\n'
    """

    def __init__(self, context: RunContext, options: ProcessOptions) -> None:
        self._context = context
        self._options = options
        self._supervisor = Supervisor()
        self._running: set[Command] = set()

    async def run(
        self,
        command: Sequence[str] | str,
        *,
        wraps: bool = False,
        joins: Sequence[str] = (),
        opens: Mapping[int, str] | None = None,
        streams_owner: tuple[int, int] | None = None,
        **options: Unpack[CommandOptions],
    ) -> Completed:
        """Run a program or a shell line.

        Args:
            command: argv, or one shell line.
            wraps: the program runs another one (as bubblewrap does): at a time-out that one is
                asked to end, and the program ends by itself.
            joins: the `cgroup.procs` files of the control groups that it shall be in.
            opens: files that it finds open for reading, by descriptor (above 31).
            streams_owner: the user and group that it is, where root lets it be another user: who
                opens `/dev/stderr` opens the pipe anew, which its owner may.
            options: as `Sandbox.run` gets them. `writable`, `readable` and `view` are for what
                isolates commands, and change nothing here.

        Raises:
            ToolError: the program does not exist or cannot be started.
        """
        chosen, stdin = self._options, options.get("stdin")
        variables = clean_environment(os.environ, self._context.python, chosen.pass_env)
        variables.update(options.get("env") or {})
        argv = command_words(command, variables["PATH"])
        asked = options.get("limits") or Limits()
        started = time.monotonic()
        out, err = OutputPipe(asked.output_bytes), OutputPipe(asked.output_bytes)
        running: Command | None = None
        try:
            with _input(stdin) as source:
                if streams_owner is not None:
                    for stream in (*([source.fileno()] if stdin else []), out.writer, err.writer):
                        os.fchown(stream, *streams_owner)
                request = Request(
                    argv=argv,
                    cwd=str(options.get("cwd") or self._context.project),
                    env=variables,
                    limits=_limits(chosen, asked),
                    grace_s=chosen.grace_s,
                    wraps=wraps,
                    joins=list(joins),
                    opens=dict(opens or {}),
                )
                streams = (source.fileno(), out.writer, err.writer)
                running = self._supervisor.start(request, streams)
            out.close_writer()
            err.close_writer()
            self._running.add(running)
            ended, timed_out = await self._finish(running, options["timeout_s"])
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
            ended = await running.wait(self._options.grace_s + 2 * KILL_TIMEOUT_S)
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


def command_words(command: Sequence[str] | str, path: str) -> list[str]:
    """A program and its arguments; of a shell line, the shell's.

    Args:
        command: argv, or one shell line.
        path: the `PATH` on which bash, or else sh, is looked for.

    Raises:
        ToolError: there is no shell, the command is empty or has a NUL byte.
    """
    if isinstance(command, str):
        shell = shutil.which("bash", path=path) or shutil.which("sh", path=path)
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


def _limits(options: ProcessOptions, asked: Limits) -> dict[str, int]:
    chosen = {
        "cpu_s": asked.cpu_s or options.cpu_s,
        "memory_bytes": asked.memory_bytes or options.memory_bytes,
        "file_bytes": asked.file_bytes or options.file_bytes,
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
