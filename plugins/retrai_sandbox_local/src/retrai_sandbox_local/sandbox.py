"""The sandbox `local`, which isolates nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Unpack

from retrai_core import (
    CommandOptions,
    Completed,
    ProcessOptions,
    ProcessRunner,
    RunContext,
    Sandbox,
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
        self, command: Sequence[str] | str, **options: Unpack[CommandOptions]
    ) -> Completed:
        """Run a program or a shell line; see `Sandbox.run`."""
        return await self._processes.run(command, **options)

    async def aclose(self) -> None:
        """End what is still running."""
        await self._processes.aclose()
