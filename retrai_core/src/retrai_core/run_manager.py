"""Creates, starts, resumes and cancels runs; every frontend drives runs through this."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from .bus import AsyncEventBus
from .choosing import catalog_for, choose
from .chosen import Choice
from .errors import PluginError, RetraiError, UsageError, WorkspaceLockedError
from .events import AgentEvent, EventKind
from .guard.held_files import holds_files_of, put_back, told
from .guard.left_behind import clean_up_killed_runs
from .loop.deadline import Deadline, OutOfTimeError
from .plugins.blame import blamed
from .plugins.patience import patiently
from .redaction.redactor import Redactor
from .run_config import RunConfig
from .run_work import RunWork
from .runs.beginning import require_pending, take_up
from .runs.ending import config_of, finish, keep_traceback, limits_of, save_or_explain
from .runs.log import RunLog
from .runs.record import GoalRecord, RunRecord
from .runs.store import RunStore
from .sinks import EventSinks
from .workspace.lock import WorkspaceLock


@dataclass(frozen=True, slots=True)
class HumanQuestion:
    """Something that a person must decide: what to do, and why it is asked."""

    question: str
    reason: str


Prepare = Callable[[RunRecord], None]
"""Makes a record ready to be worked on, or raises; called again once the project is locked."""

Asker = Callable[[HumanQuestion], Awaitable[str]]
"""Asks a person; `yes`, `approve`, `continue` or `true` go on, anything else does not."""


class RunManager:
    """Drives runs, one task each.

    Args:
        store: where runs are kept; the user's state folder when left out.
        ask: asks a person; runs with `hitl_enabled` need it.
        tell: hears what the user should know while there is no run yet whose bus could carry it.
        attended: somebody sees the events of runs while they go on, and can act on them: a model
            that needs a login says so in a `log` event, and waits for it. Otherwise it is refused.

    Example:
        >>> async def mend(project):
        ...     manager = RunManager()
        ...     config = RunConfig(cwd=project, goal="pytest", model="offline")
        ...     record = await manager.create(config)
        ...     return (await manager.start(record.id)).status
    """

    def __init__(
        self,
        store: RunStore | None = None,
        *,
        ask: Asker | None = None,
        tell: Callable[[str], None] | None = None,
        attended: bool = True,
    ) -> None:
        self.store = store or RunStore()
        self._ask = ask
        self._tell = tell or _say_nothing
        self._attended = attended
        self._choices: dict[str, Choice] = {}
        self._buses: dict[str, AsyncEventBus] = {}
        self._tasks: dict[str, asyncio.Task[RunRecord]] = {}
        self._logs: dict[str, RunLog] = {}
        self._sinks: dict[str, EventSinks] = {}

    async def create(self, config: RunConfig) -> RunRecord:
        """Decide on every part of a run and keep its record, `pending`.

        Raises:
            UsageError: a name, an option or a setting that nobody knows; no key for the model.
            PluginError: a plugin that this run needs cannot be used.
        """
        choice = await self._chosen(config)
        config = choice.config
        record = RunRecord(
            id=config.run_id,
            goals=[
                GoalRecord(
                    name=choice.goal_name,
                    found_by=choice.goal_evidence,
                    options=choice.goal.options.model_dump(mode="json", exclude_unset=True),
                )
            ],
            agent=config.agent,
            model=config.model_name,
            project=config.cwd,
            task=config.task,
            input={"task": config.task} if config.task else {},
            limits=limits_of(config),
            versions=choice.versions(),
            config=config.model_dump(mode="json", exclude_unset=True),
        )
        self.store.create(record)
        self._choices[record.id] = choice
        return record

    def bus(self, run_id: str) -> AsyncEventBus:
        """The run's bus; subscribe before `start` to miss nothing.

        Raises:
            RunNotFoundError: no such run.
        """
        if run_id not in self._buses:
            log = RunLog(self.store.folder(self.store.load(run_id).id) / "events.jsonl")
            bus = AsyncEventBus(read_back=log.read, last_seq=log.last_seq)
            bus.attach(log.append)
            self._buses[run_id], self._logs[run_id] = bus, log
        return self._buses[run_id]

    async def start(self, run_id: str) -> RunRecord:
        """Work on a pending run until it ends; its record.

        Raises:
            WorkspaceLockedError: another run works in this project.
            UsageError: the run cannot begin (a missing runner, say), or has begun already; nothing
                was changed, and of one that cannot begin nothing is left.
        """
        return await self._go(run_id, require_pending, resume=False)

    async def resume(
        self,
        run_id: str,
        *,
        max_iterations: int | None = None,
        max_cost_usd: float | Literal["none"] | None = None,
        max_tokens: int | Literal["none"] | None = None,
        max_time_s: float | Literal["none"] | None = None,
    ) -> RunRecord:
        """Go on with a run that was interrupted, killed, or used up what it was allowed.

        A limit of `none` lifts that limit, and None leaves it as it was.

        Args:
            run_id: its id, or the beginning of it.
            max_iterations: a new limit, counted from the run's beginning.
            max_cost_usd: a new limit in US dollars, over the whole run.
            max_tokens: a new limit of tokens, over the whole run.
            max_time_s: seconds for what is still to come, without those in which a person is asked.

        Raises:
            UsageError, PluginError: the run cannot be resumed, and why; its record stays as it was.
            WorkspaceLockedError: another run works in this project.
        """
        limits = {
            "max_iterations": max_iterations,
            "max_cost_usd": max_cost_usd,
            "max_tokens": max_tokens,
            "max_time_s": max_time_s,
        }
        return await self._go(run_id, partial(take_up, limits=limits), resume=True)

    def cancel(self, run_id: str) -> bool:
        """End a run of this manager as `interrupted`; False when it is not running here."""
        task = self._tasks.get(run_id)
        return task is not None and task.cancel()

    async def _go(self, run_id: str, prepare: Prepare, *, resume: bool) -> RunRecord:
        record = self.store.load(run_id)
        prepare(record)  # what is wrong is said before anything is waited for
        if record.id in self._tasks:
            raise UsageError(f"run {record.id} is under way already")
        bus = self.bus(record.id)
        task = asyncio.create_task(self._locked(record.id, bus, prepare, resume))
        self._tasks[record.id] = task
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Whoever awaits us goes away: the run must end tidily first, then we go too.
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
            raise
        finally:
            del self._tasks[record.id]
            bus.close()
            sinks = self._sinks.pop(record.id, None)
            if sinks is not None:
                await sinks.drain()
            del self._buses[record.id]
            self._logs.pop(record.id).close()

    async def _locked(
        self, run_id: str, bus: AsyncEventBus, prepare: Prepare, resume: bool
    ) -> RunRecord:
        record, folder = self.store.load(run_id), self.store.folder(run_id)
        with ExitStack() as held:
            try:
                held.enter_context(WorkspaceLock(record.project, self.store.state, record.id))
            except WorkspaceLockedError as error:
                # One that this manager made and that cannot begin leaves nothing behind; but it may
                # be that very run that works there, started by another process.
                made_here = self._choices.pop(record.id, None) is not None
                if made_here and not resume and error.holder not in ("", record.id):
                    self.store.discard(record.id)
                raise
            # Between the first look and the lock another process may have gone on with it.
            record = self.store.load(run_id)
            earlier = record.model_copy(deep=True) if resume else None
            prepare(record)
            held.enter_context(self.store.mark_running(record.id))
            # Of an earlier run that was killed; this one may hold the same files out again.
            for line in told(await asyncio.to_thread(put_back, self.store.state, record.project)):
                self._tell(line)
            undo = partial(clean_up_killed_runs, self.store.state, record.project)
            for line in await asyncio.to_thread(undo):
                self._tell(line)
            return await self._tracked(record, bus, folder, earlier)

    async def _tracked(
        self, record: RunRecord, bus: AsyncEventBus, folder: Path, earlier: RunRecord | None
    ) -> RunRecord:
        """Do the work and keep the record true, however the work ends.

        `earlier` is the record of a run that is resumed, as it was before that.
        """
        record.status, record.part_started_at = "running", time.time()
        record.started_at = record.started_at or record.part_started_at
        record.note_stop({})
        record.save(folder)
        began = time.monotonic()
        deadline = Deadline(config_of(record).max_time_s)
        failure: RetraiError | None = None
        work: RunWork | None = None
        choice = None if earlier is not None else self._choices.pop(record.id, None)
        redactor = await asyncio.to_thread(Redactor.of, record.project, os.environ)
        bus.clean = redactor.event
        try:
            if choice is None:
                choice = await deadline.bound(self._chosen(config_of(record)))
            question = partial(self._question, deadline)
            work = RunWork(choice, record, folder, bus, question, redactor, deadline)
            try:
                outcome, reason = await work.go(resume=earlier is not None)
            finally:
                if work.sinks is not None:
                    self._sinks[record.id] = work.sinks
        except asyncio.CancelledError:
            outcome, reason = "interrupted", "stopped before it was done"
        except OutOfTimeError as over:
            outcome, reason = "budget", str(over)
            record.needed = deadline.needed
        except RetraiError as error:
            outcome, reason, failure = "error", str(error), error
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the record must say what happened
            failure = blamed(error, choice.catalog.records()) if choice is not None else None
            outcome, reason = "error", str(failure or f"{type(error).__name__}: {error}")
            keep_traceback(error, folder, redactor.text)
            with suppress(RetraiError):
                bus.publish(_event(record, "error", error=reason, where="run"))
        record.worked_s += time.monotonic() - began
        finish(record, outcome, redactor.text(reason))
        # A log that cannot be written has ended the run already, and said so as its reason.
        with suppress(RetraiError):
            bus.publish(
                _event(
                    record,
                    "run_end",
                    status=outcome,
                    reason=record.reason,
                    exit_code=record.exit_code,
                    next_step=record.next_step,
                    total_tokens=record.tokens.total,
                    estimated_cost_usd=record.cost_usd,
                )
            )
        self._keep(record, earlier, failure, begun=work is not None and work.begun)
        return record

    def _keep(
        self, record: RunRecord, earlier: RunRecord | None, why: RetraiError | None, *, begun: bool
    ) -> None:
        """Save how the run ended, unless it was asked wrongly and had not begun.

        Raises:
            RetraiError: `why`, where the caller is to be told of it as of any usage error.
        """
        wrongly_asked = not begun and isinstance(why, UsageError | PluginError)
        kept = earlier if earlier is not None and wrongly_asked else record
        save_or_explain(kept, self.store.folder(record.id))
        if why is not None and (wrongly_asked or record.evidence.before is None):
            holds = holds_files_of(self.store.state, record.id)
            if wrongly_asked and earlier is None and not holds:
                self.store.discard(record.id)  # nothing is left of a new run that could be listed
            raise why

    async def _chosen(self, config: RunConfig) -> Choice:
        catalog = await asyncio.to_thread(catalog_for, config)
        folder = self.store.folder(config.run_id)
        work = partial(choose, config, folder, catalog, attended=self._attended)
        return await patiently(catalog, work, self._tell)

    async def _question(self, deadline: Deadline, question: str, reason: str) -> str:
        if self._ask is None:
            return "nobody could be asked"
        with deadline.paused():
            return await self._ask(HumanQuestion(question, reason))


def _say_nothing(_: str) -> None:
    """Nobody listens."""


def _event(record: RunRecord, kind: EventKind, **payload: object) -> AgentEvent:
    return AgentEvent(kind, record.id, record.iterations, payload)
