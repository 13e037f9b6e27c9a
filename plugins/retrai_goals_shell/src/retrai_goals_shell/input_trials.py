"""Runs a measured command on other inputs: when the run begins, and on every clean copy."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from retrai_core import Limits, Sandbox

from .kept_output import comparable, digest_of
from .other_inputs import Gone, OtherInput, candidates, put_in
from .trial_copy import TrialCopy, trial_copy

WANTED = 2
TRIES = 6
LONGEST_S = 60.0
"""A command that takes longer is not run again on other inputs when the run begins."""
SLOWER = 3.0
SLOWER_S = 0.2
"""Another input may take so many times as long as the measured one, and so many seconds more."""
MOST = 4.0
"""When the run begins, another input may take so many times as long."""
GAINED = 0.4
"""What takes less of the time that it took at the start was made quicker."""
OUTPUT_BYTES = 50_000_000


@dataclass(frozen=True)
class InputTrials:
    """How a command is tried on other inputs.

    Attributes:
        sandbox: where.
        home: the project, also where a copy of it is tried.
        command: the shell line.
        path: the folder that it runs in, relative to the project.
        ignored: patterns of what may differ in its output.
        timeout_s: for one run.
        salt: decides how far inputs are changed.
    """

    sandbox: Sandbox
    home: Path
    command: str
    path: str
    ignored: Sequence[str]
    timeout_s: float
    salt: str

    async def find(
        self,
        project: Path,
        programs: Sequence[str],
        written: Sequence[str],
        digest: str,
        usual_s: float,
    ) -> list[OtherInput]:
        """Inputs that change the output, with the output for them.

        Args:
            project: the project as it stands when the run begins.
            programs, written: see `candidates`.
            digest: of the output for the input as it is.
            usual_s: how long that takes; an input that takes many times as long is none.

        Raises:
            OSError: there is no copy to try them in.
        """
        found: list[OtherInput] = []
        every = candidates(project / self.path, self.command, programs, self.salt, written)
        tried = list(islice(every, TRIES))
        if not tried:
            return found
        async with trial_copy(project, self.home) as copy:
            for other in tried:
                printed, seconds = await self._run(copy, other, MOST * usual_s + SLOWER_S)
                # One that it fails for is no input.
                if printed and printed != digest:
                    update = {"digest": printed, "seconds": seconds}
                    found.append(other.model_copy(update=update))
                if len(found) == WANTED:
                    break
        return found

    async def differs(self, project: Path, others: Sequence[OtherInput], limit_s: float) -> str:
        """Why the command does not do what it did for other inputs, or is as slow there as it was;
        empty where it does and is not.

        Args:
            project: the project as it stands.
            others: from `find`.
            limit_s: what is below is quick enough.

        Raises:
            OSError: there is no copy to try them in.
        """
        async with trial_copy(project, self.home) as copy:
            for other in others:
                try:
                    printed, seconds = await self._run(copy, other)
                    if printed not in (None, other.digest):
                        return f"for {other.named} it does not print what it printed at the start"
                    if seconds >= limit_s and await self._is_slower(copy, other, seconds):
                        return f"for {other.named} it is as slow as it was"
                except Gone as gone:
                    return str(gone)
        return ""

    async def _is_slower(self, copy: TrialCopy, other: OtherInput, seconds: float) -> bool:
        """Whether another input takes much longer than the one that is measured, and next to
        nothing was gained for it; each has two tries, since a machine may be busy."""
        known = OtherInput(kind="command", line=self.command)
        usual = max([(await self._run(copy, known))[1] for _ in range(2)])
        slow = min(seconds, (await self._run(copy, other))[1])
        return slow > SLOWER * usual + SLOWER_S and slow > GAINED * other.seconds

    async def _run(
        self, copy: TrialCopy, other: OtherInput, limit_s: float = math.inf
    ) -> tuple[str | None, float]:
        """The digest of what it prints, and its seconds; the digest is empty where it fails, None
        where nothing can be tried.

        Raises:
            Gone: the input is nowhere any more.
        """
        scratch = await asyncio.to_thread(copy.fresh)
        folder = copy.folder / self.path
        if not await asyncio.to_thread(put_in, folder, other, self.salt):
            return None, 0.0
        done = await self.sandbox.run(
            ["bash", "-c", other.line],
            timeout_s=min(self.timeout_s, limit_s),
            cwd=folder,
            env={"TMPDIR": str(scratch), "XDG_CACHE_HOME": str(scratch / "cache")},
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=[copy.room],
        )
        if done.timed_out or done.exit_code:
            return "", done.duration_s
        return digest_of(comparable(done.stdout, self.ignored)), done.duration_s
