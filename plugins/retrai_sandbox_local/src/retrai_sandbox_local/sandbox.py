"""The sandbox `local`, which isolates nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from retrai_core import (
    Completed,
    Limits,
    ProcessOptions,
    ProcessRunner,
    RunContext,
    Sandbox,
    View,
)


class LocalSandbox(Sandbox[ProcessOptions]):
    """Runs commands as the user's own processes; see `retrai_core.ProcessRunner`.

    It does not keep a command from reading or writing what the user can; retrai-sandbox-bwrap does.
    """

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "runs commands as plain processes, with limits and a clean environment"

    def __init__(self, options: ProcessOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._processes = ProcessRunner(context, options)

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
        return await self._processes.run(
            command, timeout_s=timeout_s, cwd=cwd, env=env, limits=limits, stdin=stdin
        )

    async def aclose(self) -> None:
        """End what is still running."""
        await self._processes.aclose()
