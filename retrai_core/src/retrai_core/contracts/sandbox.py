"""A sandbox: the one place where a run starts processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Required, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict

from .context import RunContext
from .models import OptionsT, TakesModels


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one command; None leaves a limit to the sandbox.

    Attributes:
        cpu_s: maximum CPU seconds of each process.
        memory_bytes: address space of each process.
        file_bytes: size of each file it writes.
        output_bytes: how much of each output stream is kept: the first and the last half of it.
    """

    cpu_s: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None
    output_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended.

    Attributes:
        exit_code: the process's exit code; minus the signal's number when a signal ended it.
        stdout, stderr: what it printed, decoded as UTF-8 with replacement, cut to the limit with
            a line that says how many bytes were left out.
        timed_out: it was ended because `timeout_s` had passed.
        duration_s: wall-clock seconds.
    """

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class View:
    """The view of the files that a command gets, in a sandbox that supports views.

    Attributes:
        read_only: absolute paths that the command may not change; those that do not exist are
            passed over.
        shown: by the path under which the command sees it, the folder that stands there in its
            place; it stays visible under its own path too. A folder shown in its own place cannot
            be moved.
        scratch: a name for the temporary files that commands find where others of that name left
            them; empty when each command begins without any.

    Example:
        >>> View(shown={Path("/home/me/project"): Path("/tmp/copy")}).read_only
        frozenset()
    """

    read_only: frozenset[Path] = frozenset()
    shown: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    scratch: str = ""


class CommandOptions(TypedDict, total=False):
    """The keyword arguments of `Sandbox.run`; all but `timeout_s` may be left out.

    Example:
        >>> options = CommandOptions(timeout_s=60, env={"CI": "true"})
        >>> sorted(options)
        ['env', 'timeout_s']
    """

    timeout_s: Required[float]
    """Wall-clock seconds; then the process group is ended."""
    cwd: Path | None
    """Where it runs; the project when left out."""
    env: Mapping[str, str] | None
    """Variables added to the sandbox's clean environment. API keys never get there."""
    limits: Limits | None
    """What it may use."""
    stdin: bytes | None
    """What it reads; nothing when left out (never the terminal)."""
    writable: Sequence[Path]
    """Folders outside the project that it may write (a fresh report folder)."""
    readable: Sequence[Path]
    """Folders outside the project that it must be able to read."""
    view: View | None
    """How the files look to it. retrai gives this to every command of a run; what a tool or a goal
    gives is not used."""


class SandboxOptions(BaseModel):
    """Base of a sandbox's options; they come from `plugins: {SANDBOX: {...}}`."""

    model_config = ConfigDict(extra="forbid")


class Sandbox(TakesModels, ABC, Generic[OptionsT]):
    """Starts commands, waits for them, and leaves no process behind.

    However a command ends (by itself, by its time-out, or because the awaiting task is cancelled),
    its whole process group is killed and reaped before `run` returns or raises.

    Example:
        >>> from retrai_core import Completed, ProcessOptions, ProcessRunner, Sandbox
        >>> class Polite(Sandbox):
        ...     name = "polite"
        ...     Options = ProcessOptions
        ...     def __init__(self, options, context):
        ...         super().__init__(options, context)
        ...         self._processes = ProcessRunner(context, options)
        ...     async def run(self, command, **options):
        ...         words = ["nice", *command] if not isinstance(command, str) else command
        ...         return await self._processes.run(words, **options)
        ...     async def aclose(self):
        ...         await self._processes.aclose()
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset({"run"})
    programs: ClassVar[Sequence[str]] = ()
    """What must be on PATH (`bwrap`); `retrai plugins doctor` looks for it without an import."""
    Options: type[SandboxOptions] = SandboxOptions
    arranges_view: ClassVar[bool] = False
    """Whether `run` arranges a `view`; it is given none otherwise. A final check relies on it."""

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    async def run(
        self, command: Sequence[str] | str, **options: Unpack[CommandOptions]
    ) -> Completed:
        """Run a program (a list of arguments) or a shell line (a string, through `bash -c`).

        Args:
            command: argv, or one shell line.
            options: see `CommandOptions`.

        Raises:
            ToolError: the program does not exist or cannot be started.
        """

    async def probe(self) -> str | None:
        """Try the sandbox by running something; the problem, or None when it works."""
        done = await self.run(["true"], timeout_s=10)
        if done.timed_out:
            return "`true` had not ended after 10 s"
        return None if done.exit_code == 0 else done.stderr.strip() or "`true` failed"

    async def aclose(self) -> None:
        """End what is still running; called once, also after a failed run."""
        return None
