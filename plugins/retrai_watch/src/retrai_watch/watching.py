"""Waits for changes, checks, and starts runs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from watchfiles import (
    Change,
    DefaultFilter,
    awatch,  # pyright: ignore[reportUnknownVariableType] - names trio, which is not installed
)

from retrai_core import (
    RetraiError,
    RunManager,
    RunNotFoundError,
    RunRequest,
    TrustRequired,
    UsageError,
    Verdict,
    echo,
    tree_files,
)

from .output import Checked, Lines, shown_path

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_EXIT_INTERRUPTED = 130
_LOOK_MS = 1_000
"""How often we look whether the project is still there: nobody tells of a folder that is moved."""
_LONGEST_WAIT = 20
"""After so many times the debounce the check is made although files still change."""


@dataclass(frozen=True)
class WatchOptions:
    """What the user asked for.

    Attributes:
        project: its folder.
        goal: the goal's name; None: detected.
        fix: start a run when the check fails.
        model: the model of these runs; None: by the settings.
        debounce_s: so long nothing may change before the check.
        trust: approve what the project's own file sets at the start.
    """

    project: Path
    goal: str | None = None
    fix: bool = False
    model: str | None = None
    debounce_s: float = 0.3
    trust: bool = False


def watch_until_signal(options: WatchOptions, lines: Lines) -> int:
    """Watch until a signal comes; the exit code.

    Raises:
        UsageError, PluginError: nothing can be checked like that, or the project is gone.
    """
    return asyncio.run(_until_signal(options, lines))


async def _until_signal(options: WatchOptions, lines: Lines) -> int:
    printed: set[str] = set()

    def tell(line: str) -> None:
        if line not in printed:  # each check has the same to say
            printed.add(line)
            echo(line, err=True)

    async with RunManager(engine="inline", tell=tell) as manager:
        watching = asyncio.create_task(_Watcher(manager, options, lines).watch())
        with _ended_by_signals(watching):
            try:
                await watching
            except asyncio.CancelledError:
                return _EXIT_INTERRUPTED
    return 0


@contextmanager
def _ended_by_signals(task: asyncio.Task[None]) -> Generator[None]:
    """The first signal cancels the task, the second ends the process at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def on_signal(number: int, _: object) -> None:
        received.append(number)
        if len(received) > 1:
            os._exit(_EXIT_INTERRUPTED)  # the processes of its commands notice, and end
        loop.call_soon_threadsafe(task.cancel)

    # What is ignored stays so: `nohup` and shells without job control mean it.
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        if not received:  # else the second one counts to the end of the process
            for number, handler in before.items():
                signal.signal(number, handler)


class _Watcher:
    """Watches one project.

    Args:
        manager: checks, and executes runs in this process.
        options: what the user asked for.
        lines: where results go.
    """

    def __init__(self, manager: RunManager, options: WatchOptions, lines: Lines) -> None:
        self._manager = manager
        self._options = options
        self._lines = lines
        self._project = Path(os.path.realpath(options.project))
        self._counts = DefaultFilter()
        self._folder = _identity(self._project)
        self._checked: dict[str, str] = {}  # the files as the last check found them
        self._written: set[str] = set()  # files that changed during it
        self._outputs: set[str] = set()  # files that every check writes
        self._outcomes: dict[str, str] = {}  # the last known outcome of each case

    async def watch(self) -> None:
        """Check now, and after each change.

        Raises:
            UsageError, PluginError: the first check cannot be made, or the project is gone.
        """
        if self._folder is None:
            raise UsageError(
                f"no such folder: {shown_path(self._options.project)}",
                hint="give the project's folder with -C DIR",
            )
        batches = self._batches()  # before the first check: what changes meanwhile counts
        waiting = asyncio.ensure_future(anext(batches))
        try:
            request = await self._prepare(trusts=self._options.trust)
            self._lines.note("watching", f"watching {shown_path(self._project)}; Ctrl-C stops")
            await self._cycle(set(), request, await self._files())
            while True:
                await waiting
                waiting = asyncio.ensure_future(anext(batches))
                self._require_project()
                files = await self._files()
                changed = self._differing(self._checked, files)
                self._outputs -= changed
                if changed:
                    await self._after(changed, files)
        finally:
            waiting.cancel()
            await asyncio.wait({waiting})
            await batches.aclose()

    async def _after(self, changed: set[str], files: dict[str, str]) -> None:
        """One cycle; what makes a check impossible now may be gone with the next change."""
        try:
            await self._cycle(changed, await self._prepare(), files)
        except (RetraiError, OSError) as error:
            self._require_project()
            self._checked = files
            self._lines.note("not_checked", f"not checked: {error}")

    async def _cycle(self, changed: set[str], request: RunRequest, files: dict[str, str]) -> None:
        """Check, and where it fails have a run fix it: not where only the check itself wrote."""
        by_check = bool(changed) and changed <= self._written
        verdict = await self._check(changed, request, files)
        if self._options.fix and not verdict.achieved and not by_check:
            await self._fix(request)

    async def _check(
        self, changed: set[str], request: RunRequest, before: dict[str, str]
    ) -> Verdict:
        """Check the files as they were just read; what changes since leads to another check."""
        self._checked = before
        verdict = await self._manager.check(request, final=False)
        after = await self._files()
        self._lines.checked(self._compare(changed, verdict))
        self._note_outputs(changed, dict(before), after)
        return verdict

    async def _fix(self, request: RunRequest) -> None:
        """A run, and a check of what it left; another run begins only after another change."""
        try:
            run = await self._manager.submit(request)
            started = f"run {run.id} fixes it with {request.config.model_name}"
            try:
                # Of one that cannot begin there is a log at most; `result` says why.
                with suppress(RunNotFoundError):
                    async with aclosing(run.events()) as events:
                        async for event in events:
                            if event.kind != "log":
                                self._lines.note("run_started", started)
                                break
                record = await run.result()
            except asyncio.CancelledError:
                await run.cancel("interrupted")
                self._lines.ended(await run.result())
                raise
        except RetraiError as error:  # another run works here, ...
            self._lines.note("not_run", f"no run: {error}")
            return
        self._lines.ended(record)
        self._require_project()
        # What the run has written is its own; what somebody else wrote meanwhile is checked too.
        await self._check(set(), await self._prepare(), await self._files())

    def _compare(self, changed: set[str], verdict: Verdict) -> Checked:
        """What is other than before. A case that a broken test file hides keeps its outcome."""
        known = self._outcomes
        now: dict[str, str] = dict(verdict.cases)
        passed = {case for case, outcome in known.items() if outcome == "passed"}
        broke = [case for case in passed if case in now and now[case] not in _NOT_BROKEN]
        fixed = [
            case
            for case in now
            if now[case] == "passed" and known.get(case, "passed") not in _NOT_BROKEN
        ]
        if not verdict.achieved:
            now = {**known, **now}
        self._outcomes = now
        return Checked(
            goal=str(verdict.evidence.get("goal", self._options.goal or "")),
            changed=sorted(changed),
            achieved=verdict.achieved,
            reason=verdict.reason,
            counts=dict(verdict.counts),
            broke=sorted(broke),
            fixed=sorted(fixed),
        )

    def _note_outputs(
        self, changed: set[str], before: Mapping[str, str], after: Mapping[str, str]
    ) -> None:
        """Learn which files the check itself writes: those that changed during a check, led to
        this one alone, and have changed again, or were added to again under another name. Others
        that change meanwhile lead to a check."""
        written = self._differing(before, after)
        outputs: set[str] = set()
        if changed and changed <= self._written:
            kinds = {_kind(path) for path in changed}
            added = {path for path in written - before.keys() if _kind(path) in kinds}
            outputs = added | (changed if changed <= written else set())
        if outputs - self._outputs:
            names = ", ".join(sorted(outputs - self._outputs))
            self._lines.note("note", f"each check writes {names}: not watched during checks")
        self._outputs |= outputs
        self._written = written
        for path in self._outputs & written:
            if path in after:
                self._checked[path] = after[path]
            else:
                self._checked.pop(path, None)

    async def _prepare(self, *, trusts: bool = False) -> RunRequest:
        options = self._options
        given: dict[str, Any] = {
            "goal": options.goal,
            "model": options.model,
            "check_only": not options.fix,
        }
        try:
            return await self._manager.prepare(self._project, **given)
        except TrustRequired as error:
            if trusts:
                return await self._manager.prepare(self._project, trust=error.digest, **given)
            names = ", ".join(error.items)
            raise UsageError(
                f"{shown_path(self._project)} sets what needs your consent: {names}",
                hint="`retrai watch --trust` approves it; `retrai run` shows it first",
            ) from error

    async def _files(self) -> dict[str, str]:
        """The project's files by content, without those that are ignored."""
        found = await asyncio.to_thread(tree_files, self._project)
        counted = self._counts
        return {
            path: state
            for path, state in found.items()
            if counted(Change.modified, str(self._project / path))
        }

    async def _batches(self) -> AsyncGenerator[None]:
        """Goes on whenever something has changed and it is quiet again.

        Raises:
            UsageError: the folder cannot be watched, or is gone.
        """
        step_ms = max(1, round(self._options.debounce_s * 1000))
        try:
            async for changes in awatch(
                self._project,
                step=step_ms,
                debounce=step_ms * _LONGEST_WAIT,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
            ):
                self._require_project()
                if changes:
                    yield
        except OSError as error:
            self._require_project()
            raise UsageError(
                f"{shown_path(self._project)} cannot be watched: {error}",
                hint="`WATCHFILES_FORCE_POLLING=1 retrai watch` looks at every file instead",
            ) from error

    def _require_project(self) -> None:
        if _identity(self._project) != self._folder:
            _gone(self._project)

    def _differing(self, one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
        return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}


_NOT_BROKEN = frozenset({"passed", "skipped", "xfailed"})
"""Outcomes of a case that nobody has to look at."""


def _kind(path: str) -> tuple[str, str]:
    """The folder and the suffix."""
    folder, _, name = path.rpartition("/")
    return folder, Path(name).suffix


def _gone(project: Path) -> NoReturn:
    raise UsageError(f"{shown_path(project)} is gone: the folder was removed or moved")


def _identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a folder; None where there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if folder.is_dir() else None
