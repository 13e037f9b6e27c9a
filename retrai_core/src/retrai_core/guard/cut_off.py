"""Tells a check that was ended from outside from one that gave a verdict.

A runner that the kernel's memory killer, a person or a time limit ends says nothing of the tree:
the next run of the same check may pass.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..contracts.context import RunContext
from ..contracts.goal import GoalResult
from ..contracts.sandbox import Completed

_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_BY_A_SHELL = (signal.SIGKILL, signal.SIGTERM)
"""Those whose exit status, 128 and the number, no program gives for anything else."""
_BY_A_RUNNER = re.compile(
    r"^make(?:\[\d+\])?: \*\*\* \[.*\] (?:Error 1(?:37|43)|Killed|Terminated)"
    r"|\(signal: (?:9, SIGKILL|15, SIGTERM)"
    r"|^signal: (?:killed|terminated)$",
    re.MULTILINE,
)
"""How make, cargo and go tell that a program which they had started was ended so."""
_LAST_CHARS = 4_000


class Endings:
    """How the commands of one check ended.

    Attributes:
        killed: how one of them was ended from outside; empty where none was.
        timed_out: one of them ran out of its time.
    """

    def __init__(self) -> None:
        self.killed = ""
        self.timed_out = False

    def note(self, done: Completed) -> None:
        """One more command has ended."""
        if done.timed_out:
            self.timed_out = True
        else:
            self.killed = self.killed or _killed(done)

    def mark(self, result: GoalResult) -> GoalResult:
        """The answer, and that it is no verdict where a command of its check was cut off."""
        if result.achieved or result.cut_off:
            return result
        if self.killed:
            told = f"The check did not end by itself ({self.killed}): it says nothing of the tree."
            return replace(result, cut_off="killed", details=f"{told}\n\n{result.details}".strip())
        complete = result.report is not None and result.report.complete
        return replace(result, cut_off="timed_out") if self.timed_out and not complete else result


@contextmanager
def watched(context: RunContext) -> Generator[Endings]:
    """How the commands end that the run's sandbox runs meanwhile."""
    endings, sandbox = Endings(), context.sandbox_part
    if sandbox is None:
        yield endings
        return
    run, above = sandbox.run, vars(sandbox).get("run")

    async def noting(*args: Any, **kwargs: Any) -> Completed:
        done = await run(*args, **kwargs)
        endings.note(done)
        return done

    # On the object itself, since a goal may hold it since it was built.
    sandbox.run = noting
    try:
        yield endings
    finally:
        vars(sandbox).pop("run", None)
        if above is not None:
            sandbox.run = above


def _killed(done: Completed) -> str:
    for number in _FROM_OUTSIDE:
        if done.exit_code == -number:
            return f"ended by {number.name}"
    for number in _BY_A_SHELL:
        if done.exit_code == 128 + number:
            return f"exit status {done.exit_code}, which means {number.name}"
    said = _BY_A_RUNNER.search(f"{done.stdout[-_LAST_CHARS:]}\n{done.stderr[-_LAST_CHARS:]}")
    return f"the runner says: {said[0].strip('( ')}" if said and done.exit_code else ""
