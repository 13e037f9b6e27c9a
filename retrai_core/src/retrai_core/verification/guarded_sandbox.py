"""The sandbox of a run's parts: adds the guard's view to each command, records checks."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Unpack

from ..contracts.goal import GoalResult
from ..contracts.sandbox import CommandOptions, Completed, Sandbox, View

_ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_KILLED = {-number: f"ended by {number.name}" for number in _ENDS} | {
    # As a shell says it; no program gives these for anything else.
    128 + number: f"exit status {128 + number}, which means {number.name}"
    for number in (signal.SIGKILL, signal.SIGTERM)
}
"""By exit status, how a command was ended from outside."""
_BY_A_RUNNER = re.compile(
    r"^make(?:\[\d+\])?: \*\*\* \[.*\] (?:Error 1(?:37|43)|Killed|Terminated)"
    r"|\(signal: (?:9, SIGKILL|15, SIGTERM)"
    r"|^signal: (?:killed|terminated)$",
    re.MULTILINE,
)
"""How make, cargo and go say that a program which they had started was ended so."""
_LAST_CHARS = 4_000
_PROBE_TIMEOUT_S = 20.0


@dataclass
class CheckCommands:
    """How the commands of one check ended.

    A check that was ended by the kernel's OOM killer, a person or a time limit says nothing about
    the tree: the next run of the same check may pass.

    Attributes:
        view: how the files look to them.
        killed: how one of them was ended from outside; empty where none was.
        timed_out: one of them ran out of its time.
    """

    view: View
    killed: str = ""
    timed_out: bool = False

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
            why = f"The check did not end by itself ({self.killed}): it says nothing of the tree."
            return replace(result, cut_off="killed", details=f"{why}\n\n{result.details}".strip())
        complete = result.report is not None and result.report.complete
        return replace(result, cut_off="timed_out") if self.timed_out and not complete else result


_current_check: ContextVar[CheckCommands | None] = ContextVar("current_check", default=None)
"""The check that the running task belongs to; tools may run commands of their own meanwhile."""


class GuardedSandbox(Sandbox):
    """Passes every command to the run's sandbox, with the guard's view of the files.

    Attributes:
        agent_view: how the files look to all commands that belong to no check.
    """

    def __init__(self, inner: Sandbox) -> None:
        super().__init__(inner.options, inner.context)
        self._inner = inner
        self.agent_view = View()

    @contextmanager
    def check(self, view: View) -> Generator[CheckCommands]:
        """Record the commands of one check: those that are run within this block."""
        commands = CheckCommands(view)
        token = _current_check.set(commands)
        try:
            yield commands
        finally:
            _current_check.reset(token)

    async def run(
        self, command: Sequence[str] | str, **options: Unpack[CommandOptions]
    ) -> Completed:
        """Run a program or a shell line; see `Sandbox.run`."""
        current = _current_check.get()
        options.pop("view", None)
        if self.arranges_view:
            options["view"] = self.agent_view if current is None else current.view
        done = await self._inner.run(command, **options)
        if current is not None:
            current.note(done)
        return done

    async def probe(self) -> str | None:
        """Try the run's sandbox; see `Sandbox.probe`."""
        return await self._inner.probe()

    async def aclose(self) -> None:
        """Close the run's sandbox."""
        await self._inner.aclose()


def guarded_sandbox(inner: Sandbox) -> GuardedSandbox:
    """The run's sandbox for the run's parts, under its own name."""

    class _Guarded(GuardedSandbox):
        name: ClassVar[str] = inner.name
        arranges_view: ClassVar[bool] = inner.arranges_view

    return _Guarded(inner)


async def can_reach(sandbox: Sandbox, path: Path, test: Literal["-e", "-r"]) -> bool:
    """Whether a command finds a file or folder of the machine (`-e`), or may read it (`-r`).

    True where the command does not say.

    Raises:
        RetraiError: the sandbox does not start.
    """
    done = await sandbox.run(
        ["/bin/sh", "-c", f'[ {test} "$1" ]', "sh", str(path)], timeout_s=_PROBE_TIMEOUT_S
    )
    return done.exit_code != 1


def _killed(done: Completed) -> str:
    if done.exit_code in _KILLED:
        return _KILLED[done.exit_code]
    said = _BY_A_RUNNER.search(f"{done.stdout[-_LAST_CHARS:]}\n{done.stderr[-_LAST_CHARS:]}")
    return f"the runner says: {said[0].strip('( ')}" if said and done.exit_code else ""
