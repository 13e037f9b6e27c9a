"""What the routes share: the manager, the projects, the streams, and the runs of this server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrai_core import (
    RetraiError,
    Run,
    RunManager,
    RunNotFoundError,
    RunRecord,
    RunRequest,
    RunStore,
    UnreadableRun,
)

from .errors import ApiError
from .projects import Projects
from .schemas import NOT_HERE
from .streams import RunFeeds, StatusFeed

LABEL = {"via": "retrai-server"}
"""The label of the runs that a server has started."""
_STOP_LIMIT_S = 6.0
_PREPARING = 2
_PROBLEMS = 1_000
"""Of so many runs that could not begin the server knows why."""


@dataclass(frozen=True)
class ServerOptions:
    """What the user asked for.

    Attributes:
        roots: the folders whose projects are served, symlinks resolved.
        host: what the server listens on.
        port: its port; 0 for any.
        max_parallel: so many runs at once.
        store: the name of the store; None for the user's.
        detach: whether runs go on when the server ends.
    """

    roots: tuple[Path, ...]
    host: str = "127.0.0.1"
    port: int = 8420
    max_parallel: int = 1
    store: str | None = None
    detach: bool = False


class Server:
    """The server's state, for its own routes and those of plugins.

    Args:
        options: what the user asked for.
        manager: executes the runs, in processes of their own.

    Attributes:
        projects: the folder of each registered project by its UUID.
        closing: what a plugin opens here is closed with the server.
        body_limits: bytes that a request's body may have, by path, where that is not
            `MAX_BODY_BYTES`.
    """

    def __init__(self, options: ServerOptions, manager: RunManager) -> None:
        self.options = options
        self.manager = manager
        self.projects = Projects(options.roots)
        self.closing = AsyncExitStack()
        self.body_limits: dict[str, int] = {}
        self.feeds = RunFeeds()
        self.statuses = StatusFeed(manager, self.shows)
        self._own: dict[str, RunRecord] = {}
        self._preparing = asyncio.Semaphore(_PREPARING)
        self._problems: OrderedDict[str, tuple[RunRecord, RetraiError]] = OrderedDict()
        self._watching: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def attach(self) -> None:
        """Take up what an earlier server has left, and register the projects of all runs."""
        for root in self.options.roots:
            self.projects.register(root)
        for record in await self.manager.list():
            if isinstance(record, RunRecord) and self.shows(record) and record.project.is_dir():
                self.projects.register(record.project.resolve())
        await self.manager.attach(self._take_up)

    async def import_agents(self) -> None:
        """Import the agents before a page asks for their graphs: that takes seconds."""
        with contextlib.suppress(Exception):  # a request says what is wrong
            await self.manager.agents(self.options.roots[0])

    def _take_up(self, record: RunRecord) -> bool:
        is_ours = record.labels.items() >= LABEL.items() and self.shows(record)
        if is_ours:
            self._own[record.id] = record
        return is_ours

    def shows(self, record: RunRecord) -> bool:
        """Whether clients may see a run: its project lies beneath a root."""
        return self.projects.contains(record.project)

    async def run(self, run_id: str) -> tuple[Run, RunRecord]:
        """A run by its whole id, and its record.

        Raises:
            RunNotFoundError: there is none, or its project lies elsewhere.
        """
        try:
            run = await self.manager.get(run_id)
            record = await run.record()
        except RunNotFoundError:
            raise self._not_here(run_id) from None
        if run.id != run_id or not self.shows(record):
            raise self._not_here(run_id)
        return run, record

    def _not_here(self, run_id: str) -> RetraiError:
        if run_id in self._problems:  # of a run that could not begin nothing is left
            _, problem = self._problems[run_id]
            message = f"run {run_id} could not begin: {problem.message}"
            return ApiError(409, "NotBegun", message, hint=problem.hint)
        return RunNotFoundError(f"no run {run_id!r}", hint=NOT_HERE)

    async def look(self, run_id: str) -> tuple[RunRecord, RetraiError | None]:
        """The record of a run, and why it could not begin, or go on.

        Raises:
            RunNotFoundError: as `run`.
        """
        try:
            _, record = await self.run(run_id)
        except (RunNotFoundError, ApiError):
            # Of a run that could not begin nothing is left, a moment before we hear why.
            kept, problem = self._problems.get(run_id, (self._own.get(run_id), None))
            if kept is None:
                raise
            return kept, problem
        return record, self._problems[run_id][1] if run_id in self._problems else None

    async def prepare(self, folder: Path, /, **settings: Any) -> RunRequest:
        """A request: see `RunManager.prepare`. Few at a time, so that many do not keep the threads
        from what only reads."""
        async with self._preparing:
            return await self.manager.prepare(folder, **settings)

    async def submit(self, request: RunRequest) -> tuple[Run, RunRecord]:
        """Begin a run.

        Raises:
            ApiError: the server is about to end.
        """
        self._require_going_on()
        labels = {**LABEL, **request.labels}
        run = await self.manager.submit(request.model_copy(update={"labels": labels}))
        record = await run.record()
        self.projects.register(record.project)
        self._watch(run, record)
        return run, record

    async def resume(self, run: Run, record: RunRecord, limits: dict[str, Any]) -> None:
        """Go on with a run that has ended.

        Raises:
            ApiError: the server is about to end.
        """
        self._require_going_on()
        await run.resume(**limits)
        self._watch(run, record)

    async def stop(self) -> None:
        """End the runs of this server as `interrupted`, unless they are to go on without it."""
        self._is_stopping = True
        self.manager.pause()
        if not self.options.detach:
            ending = [asyncio.create_task(self._interrupt(run_id)) for run_id in list(self._own)]
            if ending:
                await asyncio.wait(ending, timeout=_STOP_LIMIT_S)
            for task in ending:
                task.cancel()

    async def aclose(self) -> None:
        """Give back what the server holds."""
        for task in self._watching:
            task.cancel()
        await self.feeds.aclose()
        await self.statuses.aclose()
        await self.closing.aclose()

    def _require_going_on(self) -> None:
        if self._is_stopping:
            raise ApiError(503, "ServerStopping", "the server is about to end")

    async def _interrupt(self, run_id: str) -> None:
        with contextlib.suppress(RetraiError):  # deleted, or ended just now
            run = await self.manager.get(run_id)
            if (await run.record()).status != "pending" and await run.cancel("interrupted"):
                await run.result()

    def _watch(self, run: Run, record: RunRecord) -> None:
        """Know why the run could not begin: of a new one nothing is left in the store then."""
        self._problems.pop(run.id, None)
        self._own[run.id] = record

        async def watch() -> None:
            try:
                await run.result()
            except RetraiError as error:
                ended = {"status": "error", "reason": str(error), "ended_at": time.time()}
                self._problems[run.id] = (record.model_copy(update=ended), error)
                if len(self._problems) > _PROBLEMS:
                    self._problems.popitem(last=False)
            finally:
                self._own.pop(run.id, None)

        task = asyncio.create_task(watch())
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def list(self, limit: int, **wanted: Any) -> list[RunRecord | UnreadableRun]:
        """Runs that clients may see, newest first, those that could not begin among them."""
        known = [record for record, _ in self._problems.values()]
        found = [*RunStore.select(known, **wanted, limit=limit)]
        wanted = dict(wanted)
        while True:
            page = await self.manager.list(**wanted, limit=limit + 1)
            found += [run for run in page if not isinstance(run, RunRecord) or self.shows(run)]
            if len(page) <= limit or len(found) >= limit + len(known):
                break
            wanted["before"] = created_at(page[-1])
        # What the store has comes last here, and counts.
        runs = {run.id: run for run in found}
        return sorted(runs.values(), key=created_at, reverse=True)[:limit]


def created_at(run: RunRecord | UnreadableRun) -> float:
    """When a run was asked for, as far as it is known."""
    return run.created_at if isinstance(run, RunRecord) else run.changed_at
