"""Executes one run: takes its claim, works, and keeps the record correct however it ends."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..agents.deadline import Deadline, OutOfTimeError, end
from ..bus import EventBus
from ..config.model import FLAG
from ..config.sources import Settings
from ..contracts.agent import AgentResult
from ..contracts.question import Answer
from ..contracts.record import UNDER_WAY, Status
from ..contracts.store import Cancel, Claim, Command, Configure, Resume, RunStore, SentCommand
from ..errors import (
    ClaimLostError,
    PluginError,
    RetraiError,
    RunUnderWayError,
    StateFolderError,
    UsageError,
    WorkspaceLockedError,
)
from ..plugins.error_attribution import blamed
from ..redaction.redactor import Redactor
from ..storage.crash_recovery import interrupted
from ..verification.clean_up import clean_up_killed_runs
from ..verification.environment_files import drop_copies
from ..workspace.lock import WorkspaceLock
from .holder import Holder, read_all
from .last_event import LEASE_S, publish_end, worker_name
from .live import LiveText
from .prune import delete_run
from .questions import Questions
from .request import Tell, resolve_run
from .resolved_run import ResolvedRun
from .run_begin import prepare_record
from .run_end import config_of, finish, keep_traceback, limits_of
from .work import RunWork

_STOP_LIMIT_S = 5.0
_CLAIM_TRIES, _CLAIM_PAUSE_S = 5, 0.1
_CHANGED = ("config", "origins", "limits", "model", "interactive")
"""What `configure` changes in a record."""
_REFUSALS = (UsageError, PluginError, WorkspaceLockedError, StateFolderError)
"""What is wrong with how a run was asked for, or keeps it from beginning now."""


class Executor:
    """Works on one run in this event loop.

    Args:
        store: where the run is kept.
        state: the state folder of this machine: the run's local folder and the locks are there.
        run_id: the run.
        resolved: what it is built from; resolved again from its record when it is None.
        tell: hears what the user should know while nothing can be published.
    """

    def __init__(
        self,
        store: RunStore,
        state: Path,
        run_id: str,
        resolved: ResolvedRun | None,
        tell: Tell,
    ) -> None:
        self._store = store
        self._state = state
        self._run_id = run_id
        self._resolved = resolved
        self._tell = tell
        self._cancelled: Cancel | None = None
        self._is_resumed = False
        self._is_stopping = False
        self._claim_lost: ClaimLostError | None = None
        self._mailbox_problem = ""
        self._work: RunWork | None = None
        self._live = LiveText()
        self._deadline = Deadline(None)
        self._taken = 0
        self._changes: deque[SentCommand] = deque()
        self._is_changed = asyncio.Event()
        self._is_built = asyncio.Event()

    async def run(self) -> None:
        """Work until the run ends.

        Raises:
            UsageError, PluginError: it cannot begin, or go on; of a new run nothing is left, and
                the record of another stays as it was.
            ClaimLostError: somebody else works on it now.
        """
        self._main = asyncio.current_task()
        claim = await self._claim()
        if claim is None:
            raise RunUnderWayError(
                f"run {self._run_id} is under way already",
                hint=f"`retrai runs follow {self._run_id}`",
            )
        is_discarded = False
        try:
            self._holder = await self._hold(claim)
            try:
                await self._execute()
            except _REFUSALS:
                is_discarded = await self._refuse()
                raise
            finally:
                await self._holder.bus.aclose()
                if self._work is not None and self._work.sinks is not None:
                    for line in await self._work.sinks.drain():
                        self._tell(line)
        finally:
            await self._store.release(claim)
            if is_discarded:
                with suppress(UsageError):  # somebody has taken it just now, to end or delete it
                    await delete_run(self._store, self._state, self._run_id)

    async def _claim(self) -> Claim | None:
        """The claim; somebody who only looks whether the holder is alive has it for a moment."""
        for _ in range(_CLAIM_TRIES):
            claim = await self._store.claim(self._run_id, worker_name(), LEASE_S)
            if claim is not None:
                return claim
            await asyncio.sleep(_CLAIM_PAUSE_S)
        return None

    async def _hold(self, claim: Claim) -> Holder:
        record = await self._store.load(self._run_id)
        self._was_killed = record.status in UNDER_WAY  # whoever had the claim is dead
        if self._was_killed:
            record = interrupted(record, await read_all(self._store, self._run_id))
        self._earlier = record.model_copy(deep=True)
        self._is_new = record.status == "pending"
        folder = self._state / "runs" / record.id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        append = partial(self._store.append_events, claim)
        holder = Holder(self._store, claim, record, folder, EventBus(append, await append([])))
        self._taken = record.commands_seen
        self._questions = Questions(
            self._store,
            claim,
            holder.publish,
            self._deadline,
            self._note_waiting,
        )
        self._questions.on_abort = self._note_abort
        await self._questions.load()
        return holder

    async def _refuse(self) -> bool:
        """Leave things as they were; whether nothing of the run is to be left."""
        if self._is_new:
            return True
        self._holder.record = self._earlier
        await self._end()
        return False

    async def _execute(self) -> None:
        """Do the work, and say in the record how it ended.

        Raises:
            UsageError, PluginError: the run was asked for wrongly, and nothing has begun.
        """
        record = self._holder.record
        redactor = await asyncio.to_thread(Redactor.of, record.project, os.environ)
        self._holder.bus.clean = redactor.event
        await self._read_mailbox()
        if not (self._is_new or self._is_resumed):  # somebody else has begun it, or ended it
            if self._was_killed:
                await self._end()
            return
        if not self._is_new:
            prepare_record(record, {})
        began = time.monotonic()
        self._deadline.limit(config_of(record).max_time_s)
        failure: RetraiError | None = None
        try:
            if self._cancelled is not None:
                raise asyncio.CancelledError
            async with AsyncExitStack() as held:
                await held.enter_async_context(self._mailbox())
                await self._lock(held)
                self._work = await self._set_up(redactor)
                await held.enter_async_context(self._live.served(self._holder.folder))
                await held.enter_async_context(self._work.cleaned_up())
                work = self._work.go(resume=not self._is_new)
                try:
                    outcome, reason = await self._deadline.bound(work)
                finally:
                    self._is_stopping = True  # nothing may cut off what puts things back
                reason = self._work.with_counts(reason)
        except asyncio.CancelledError:
            outcome, reason = self._how_it_was_cancelled()
        except OutOfTimeError as over:
            outcome, reason = "budget", str(over)
            record.needed = self._deadline.needed
        except RetraiError as error:
            if self._claim_lost or isinstance(error, ClaimLostError):
                raise self._claim_lost or error from None
            outcome, reason, failure = "error", str(error), error
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the record must say what happened
            failure = blamed(error, self._resolved.catalog.records()) if self._resolved else None
            outcome, reason = "error", str(failure or f"{type(error).__name__}: {error}")
            keep_traceback(error, self._holder.folder, redactor.text)
            with suppress(RetraiError):
                self._holder.publish("error", error=reason, where="run")
        if isinstance(failure, _REFUSALS) and not self._has_begun:
            raise failure
        record.worked_s += time.monotonic() - began
        finish(record, outcome, redactor.text(reason))
        await self._end()

    async def _read_mailbox(self) -> None:
        """Take what was sent while nobody worked on the run."""
        record = self._holder.record
        for sent in await self._commands():
            if isinstance(sent.command, Answer):
                await self._questions.answer(sent.command)
            elif isinstance(sent.command, Cancel):
                self._cancelled = sent.command
            else:
                self._set(sent.command.settings)
                self._resolved = None  # it was made with the earlier settings
            if isinstance(sent.command, Resume):
                self._is_resumed, self._cancelled = True, None  # that was for an earlier part
            self._taken = record.commands_seen = self._earlier.commands_seen = sent.number
        self._questions.on_abort = partial(self._cancel, Cancel(status="aborted"))

    @property
    def _has_begun(self) -> bool:
        return self._work is not None and self._work.begun

    async def _lock(self, held: AsyncExitStack) -> None:
        """Keep other runs out of the project, and take back what killed ones have left there."""
        record = self._holder.record
        if not record.goals:  # it is locked once a tool of the run may change it
            return
        held.enter_context(WorkspaceLock(record.project, self._state, record.id))
        for line in await asyncio.to_thread(clean_up_killed_runs, self._state, record.project):
            self._tell(line)

    async def _set_up(self, redactor: Redactor) -> RunWork:
        holder, record = self._holder, self._holder.record
        await self._begin()
        if self._resolved is None:
            settings = Settings(config_of(record), record.origins)
            resolve = resolve_run(settings, holder.folder, self._tell, attended=record.attended)
            self._resolved = await self._deadline.bound(resolve)
        self._questions.can_ask = record.interactive
        return RunWork(
            self._resolved,
            holder,
            redactor,
            self._deadline,
            self._questions,
            self._live,
            await self._previous(),
            on_built=self._is_built.set,
        )

    async def _previous(self) -> AgentResult | None:
        """What the run came to that this one continues."""
        continued = self._holder.record.continues
        if continued is None:
            return None
        earlier = await self._store.load(continued)
        is_good = earlier.status in ("answered", "achieved")
        status = "answered" if is_good else "failed"
        return AgentResult(status, earlier.reason, earlier.output, earlier.data)

    async def _begin(self) -> None:
        record = self._holder.record
        record.status, record.part_started_at = "running", time.time()
        record.started_at = record.started_at or record.part_started_at
        record.artifacts = []  # those of an earlier part say nothing of this one
        record.hand_over = None
        record.note_stop({})
        await self._holder.save()

    async def _end(self) -> None:
        """Keep the record as it stands, and then the run's last event."""
        holder, record = self._holder, self._holder.record
        await self._questions.withdraw()
        try:
            await holder.save()
        except OSError as error:
            raise RetraiError(
                f"the run ended as {record.status} ({record.reason}), and its record cannot be "
                f"written: {error.strerror or error} ({holder.folder})",
                hint=f"make room; `retrai runs resume {record.id}` goes on",
            ) from error
        if not record.resumable:
            drop_copies(holder.folder / "baseline")
        # A log that cannot be written has ended the run already, and said so as its reason.
        with suppress(RetraiError):
            publish_end(holder)
            await holder.bus.flush()

    def _how_it_was_cancelled(self) -> tuple[Status, str]:
        if self._claim_lost is not None:
            raise self._claim_lost
        if self._mailbox_problem:
            if self._main is not None:
                self._main.uncancel()
            return "error", self._mailbox_problem
        if self._cancelled is None:
            return "interrupted", "stopped before it was done"
        if self._main is not None:
            self._main.uncancel()
        if self._cancelled.status == "aborted":
            return "aborted", "ended by a person"
        return "interrupted", "stopped before it was done"

    # The mailbox

    @asynccontextmanager
    async def _mailbox(self) -> AsyncGenerator[None]:
        """Carry out commands, and keep the claim alive, while the work goes on."""
        jobs = (self._heed, self._configure, self._beat)
        tasks = [asyncio.create_task(self._ending_the_run(job)) for job in jobs]
        try:
            yield
        finally:
            for task in tasks:
                await end(task, _STOP_LIMIT_S)

    async def _ending_the_run(self, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do a job of the mailbox; where it fails nobody can reach the run any more: it ends."""
        try:
            await job()
        except ClaimLostError as error:
            self._claim_lost = error
            self._stop()
        except Exception as error:  # noqa: BLE001 - a store's own too; the run's reason says it
            what = "" if isinstance(error, RetraiError) else f"{type(error).__name__}: "
            self._mailbox_problem = f"the run's mailbox fails: {what}{error}"
            self._stop()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            await self._store.heartbeat(self._holder.claim)

    async def _heed(self) -> None:
        async for _ in self._store.changes(self._run_id):
            for sent in await self._commands():
                await self._carry_out(sent)
                self._taken = sent.number
                self._note_seen()

    async def _commands(self) -> list[SentCommand]:
        return list(await self._store.commands(self._holder.claim, self._taken))

    def _note_seen(self) -> None:
        """What was taken and not yet carried out is taken again by whoever goes on."""
        first = self._changes[0].number - 1 if self._changes else self._taken
        self._holder.record.commands_seen = first

    async def _carry_out(self, sent: SentCommand) -> None:
        command: Command = sent.command
        if isinstance(command, Cancel):
            self._cancel(command)
        elif isinstance(command, Configure):
            self._changes.append(sent)
            self._is_changed.set()
        elif isinstance(command, Answer):
            await self._questions.answer(command)

    async def _configure(self) -> None:
        """Change settings, one command after the other; a model that takes long keeps nobody from
        cancelling."""
        while True:
            await self._is_changed.wait()
            self._is_changed.clear()
            while self._changes:
                await self._is_built.wait()
                command = self._changes[0].command
                assert isinstance(command, Configure)
                await self._change(command.settings)
                self._changes.popleft()
                self._note_seen()

    async def _change(self, settings: Mapping[str, Any]) -> None:
        """Let the run go on with these settings, or as it was where it cannot."""
        holder, record, work = self._holder, self._holder.record, self._work
        assert work is not None
        before = {name: getattr(record, name) for name in _CHANGED}
        try:
            self._set(settings)
            await work.configure(config_of(record), settings)
        except BaseException as error:
            for name, value in before.items():
                setattr(record, name, value)
            if not isinstance(error, (Exception, SystemExit)):  # the run ends
                raise
            known = blamed(error, self._resolved.catalog.records()) if self._resolved else None
            what = error if isinstance(error, RetraiError) else f"{type(error).__name__}: {error}"
            holder.publish("log", level="warning", message=f"not changed: {known or what}")
            await holder.save()  # it may have been saved as it was for a moment
            return
        self._questions.can_ask = record.interactive
        changed = ", ".join(f"{name}: {value}" for name, value in settings.items())
        holder.publish("log", level="info", message=f"changed: {changed}")
        await holder.save()

    def _set(self, settings: Mapping[str, Any]) -> None:
        """Give the record the settings that hold from now on."""
        record = self._holder.record
        config = config_of(record, settings)
        record.config = config.model_dump(mode="json", exclude_unset=True)
        record.origins = record.origins | dict.fromkeys(settings, FLAG)
        record.limits, record.model = limits_of(config), config.model_name
        record.interactive = record.interactive or config.hitl_enabled

    def _note_abort(self) -> None:
        """A question was answered with `abort` while nobody worked on the run."""
        self._cancelled = self._cancelled or Cancel(status="aborted")

    def _cancel(self, command: Cancel) -> None:
        if self._cancelled is None:
            self._cancelled = command
            self._stop()

    def _stop(self) -> None:
        """Cancel the work, once: what puts things back after it is not cut off."""
        if self._main is not None and not self._is_stopping:
            self._is_stopping = True
            self._main.cancel()

    async def _note_waiting(self, is_waiting: bool) -> None:
        status: Status = "waiting" if is_waiting else "running"
        if status != self._holder.record.status:
            self._holder.record.status = status
            await self._holder.save()
