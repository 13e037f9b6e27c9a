"""Runs a measured command on other inputs: when the run begins, and on every clean copy."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import Limits, Sandbox

from .kept_output import comparable, digest_of
from .other_inputs import Gone, OtherInput, candidates, copy_for_input, put_in

WANTED = 2
TRIES = 5
LONGEST_S = 60.0
"""A command that takes longer is not run again on other inputs when the run begins."""
OUTPUT_BYTES = 50_000_000


@dataclass(frozen=True)
class InputTrials:
    """How a command is tried on other inputs.

    Attributes:
        sandbox: where.
        command: the shell line.
        path: the folder that it runs in, relative to the project.
        ignored: patterns of what may differ in its output.
        timeout_s: for one run.
        salt: decides how far inputs are changed.
    """

    sandbox: Sandbox
    command: str
    path: str
    ignored: Sequence[str]
    timeout_s: float
    salt: str

    async def find(
        self, project: Path, programs: Sequence[str], written: Sequence[str], digest: str
    ) -> list[OtherInput]:
        """Inputs that change the output, with the output for them.

        Args:
            project: the project as it stands when the run begins.
            programs, written: see `candidates`.
            digest: of the output for the input as it is.
        """
        found: list[OtherInput] = []
        every = candidates(project / self.path, self.command, programs, self.salt, written)
        for number, other in enumerate(every):
            if number == TRIES or len(found) == WANTED:
                break
            printed = await self._run(project, other)
            # One that it fails for is no input.
            if printed and printed != digest:
                found.append(other.model_copy(update={"digest": printed}))
        return found

    async def differs(self, project: Path, others: Sequence[OtherInput]) -> str:
        """Why the command does not do what it did for other inputs; empty where it does."""
        for other in others:
            try:
                printed = await self._run(project, other)
            except Gone as gone:
                return str(gone)
            if printed not in (None, other.digest):
                return f"for {other.named} it does not print what it printed at the start"
        return ""

    async def _run(self, project: Path, other: OtherInput) -> str | None:
        """The digest of what it prints; empty where it fails, None where nothing can be tried.

        Raises:
            Gone: the input is nowhere any more.
        """
        room = await asyncio.to_thread(_room)
        copy = room / project.name
        try:
            await asyncio.to_thread(copy_for_input, project, copy)
            if not await asyncio.to_thread(put_in, copy / self.path, other, self.salt):
                return None
            done = await self.sandbox.run(
                ["bash", "-c", other.line],
                timeout_s=self.timeout_s,
                cwd=copy / self.path,
                env={"TMPDIR": str(room), "XDG_CACHE_HOME": str(room / "cache")},
                limits=Limits(output_bytes=OUTPUT_BYTES),
                writable=[room],
            )
        finally:
            await asyncio.to_thread(shutil.rmtree, room, ignore_errors=True)
        if done.timed_out or done.exit_code:
            return ""
        return digest_of(comparable(done.stdout, self.ignored))


def _room() -> Path:
    return Path(tempfile.mkdtemp(prefix="tmp-")).resolve()
