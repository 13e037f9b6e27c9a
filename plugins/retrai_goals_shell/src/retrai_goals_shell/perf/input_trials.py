"""Runs a measured command on other inputs: when the run begins, and on every clean copy."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from retrai_core import Completed, Limits, RunContext
from retrai_goal_support import fresh_folder

from ..command.files import named_files
from ..trial_copy import temporary_folders, trial_copy
from .kept_output import comparable, digest_files, digest_of_all
from .options import PerfCheckOptions
from .other_inputs import REFUSED, Gone, OtherInput, candidates, digest_of, put_in, to_compare

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
_CRASH = re.compile(r"^Traceback |^thread '.*panicked|^ +at |^panic:|^goroutine ", re.MULTILINE)
"""In Python, Rust, JavaScript and Go."""


@dataclass(frozen=True)
class InputTrials:
    """Tries the command of a goal on other inputs, each in a copy of its own.

    Attributes:
        context: of the run; its id decides how far inputs are changed.
        options: of the goal.
    """

    context: RunContext
    options: PerfCheckOptions

    async def find(
        self, project: Path, written: Sequence[str], digest: str, usual_s: float
    ) -> list[OtherInput]:
        """Inputs that change the output, with the output for them.

        Args:
            project: the project as it stands when the run begins.
            written: files that the command writes.
            digest: of the output for the input as it is, with the option's output files.
            usual_s: how long that takes; an input that takes `MOST` times as long is left out.

        Raises:
            OSError: there is no copy to try them in.
        """
        folder, command = project / self.options.path, self.options.command
        programs = named_files(command, folder)
        every = candidates(folder, command, programs, self.context.run_id, written)
        found: list[OtherInput] = []
        if usual_s >= LONGEST_S:
            return found
        for other in await asyncio.to_thread(lambda: list(islice(every, TRIES))):
            printed, seconds = await self._run(project, other, MOST * usual_s + SLOWER_S)
            # One that it crashes for is no input; what it refuses once must be refused again.
            is_known = printed == REFUSED and any(each.digest == REFUSED for each in found)
            # Where the order does not count, it must not count later.
            if printed and (printed != digest or other.is_reordered) and not is_known:
                found.append(other.model_copy(update={"digest": printed, "seconds": seconds}))
            inputs = [
                each
                for each in found
                if each.digest not in (REFUSED, digest) and each.kind != "digits"
            ]
            if len(inputs) == WANTED:
                break
        return found

    async def differs(self, project: Path, others: Sequence[OtherInput]) -> str:
        """Why the command does not do what it did for other inputs, or is as slow there as it was;
        empty where it does and is not.

        Args:
            project: the project as it stands.
            others: from `find`.

        Raises:
            OSError: there is no copy to try them in.
        """
        for other in others:
            try:
                printed, seconds = await self._run(project, other)
            except Gone as gone:
                return str(gone)
            if printed not in (None, other.digest):
                return f"for {other.named} it does not print what it printed at the start"
            is_slow = seconds >= self.options.max_seconds
            if is_slow and await self._is_slower(project, other, seconds):
                return f"for {other.named} it is as slow as it was"
        return ""

    async def _is_slower(self, project: Path, other: OtherInput, seconds: float) -> bool:
        """Whether another input takes much longer than the one that is measured, and next to
        nothing was gained for it; each has two tries, since a machine may be busy."""
        known = OtherInput(kind="command", line=self.options.command)
        usual = max([(await self._run(project, known))[1] for _ in range(2)])
        slow = min(seconds, (await self._run(project, other))[1])
        return slow > SLOWER * usual + SLOWER_S and slow > GAINED * other.seconds

    async def _run(
        self, project: Path, other: OtherInput, limit_s: float = math.inf
    ) -> tuple[str | None, float]:
        """The digest of what it prints and writes, `REFUSED` where it refuses the input, and its
        seconds; the digest is empty where it crashes or takes too long, None where nothing can be
        tried.

        Raises:
            Gone: the input is nowhere any more.
            OSError: there is no copy to try it in.
        """
        # As at a measured repeat, nothing is in the folder for what programs keep, so that the
        # command cannot tell the two apart.
        async with (
            trial_copy(project, self.context.project) as copy,
            fresh_folder("tmp") as fresh,
        ):
            folder = copy.folder / self.options.path
            if not await asyncio.to_thread(put_in, copy.folder, folder, other):
                return None, 0.0
            done = await self.start(other.line, folder, fresh, limit_s, writable=[copy.room])
            files = await asyncio.to_thread(digest_files, folder, self.options.output_files)
        if done.timed_out or done.exit_code:
            # What is too much for the slow program may be no more than a limit.
            ends = not done.timed_out and 0 < done.exit_code < 128
            is_refusal = ends and not other.more and not _CRASH.search(done.stderr)
            return REFUSED if is_refusal else "", done.duration_s
        printed = comparable(done.stdout, self.options.ignore_output)
        printed = digest_of(to_compare(printed) if other.kind == "digits" else printed)
        return digest_of_all(printed, files), done.duration_s

    async def start(
        self,
        line: str,
        folder: Path,
        fresh: Path,
        limit_s: float = math.inf,
        writable: Sequence[Path] = (),
    ) -> Completed:
        """Start a shell line, with a fresh folder for what programs keep.

        Args:
            line: what bash runs.
            folder: where it runs.
            fresh: the fresh folder.
            limit_s: wall-clock seconds, where the option `timeout_s` allows more.
            writable: other folders that it may write.

        Raises:
            ToolError: it cannot be started.
        """
        return await self.context.sandbox.run(
            ["bash", "-c", line],
            timeout_s=min(self.options.timeout_s, limit_s),
            cwd=folder,
            env=temporary_folders(fresh),
            limits=Limits(output_bytes=OUTPUT_BYTES),
            writable=[fresh, *writable],
        )
