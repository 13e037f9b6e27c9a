"""A run as a frontend sees it, wherever it executes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..config.model import RunConfig
from ..contracts.question import Question
from ..contracts.record import UNDER_WAY, RunRecord
from ..contracts.store import Cancel, Configure, JournalledResult, Resume, RunStore
from ..errors import UsageError, nearest
from ..events import AgentEvent
from .arguments import NotNegative, checked_arguments
from .holder import read_all
from .last_event import end_killed_run
from .live import TextDelta, deltas_of
from .run_begin import prepare_record
from .run_end import config_of

if TYPE_CHECKING:
    from ..storage.restore import Undone
    from .manager import RunManager

_LOOK_S = 1.0
"""How often a reader who hears nothing looks whether the run's holder is still alive."""
_CONNECT_AGAIN_S = 0.2
LIVE_SETTINGS = (
    "max_iterations",
    "max_cost_usd",
    "max_tokens",
    "max_time_s",
    "model_name",
    "temperature",
    "hitl_enabled",
)
"""What `configure` can change."""


class Run:
    """The handle of one run. It holds no resources: create and drop as many as you like.

    Attributes:
        id: the run's id.
    """

    def __init__(self, manager: RunManager, run_id: str) -> None:
        self.id = run_id
        self._manager = manager

    @property
    def _store(self) -> RunStore:
        return self._manager.store

    @property
    def folder(self) -> Path:
        """The run's own folder on the machine of its project."""
        return self._manager.state / "runs" / self.id

    async def record(self) -> RunRecord:
        """The record as it stands.

        Raises:
            RunNotFoundError: the run was deleted.
        """
        return await self._store.load(self.id)

    @checked_arguments
    async def events(self, after: NotNegative = 0) -> AsyncIterator[AgentEvent]:
        """Events behind number `after`: those that are kept, then each as it comes.

        It ends behind the `run_end` that is the log's last event, whoever wrote it. Going away
        ends nothing, and a slow reader misses nothing and slows nobody.

        Args:
            after: the number of the last event that is known already; 0: from the beginning.
        """
        kind = ""
        if after:
            before = await self._store.read_events(self.id, after - 1)
            kind = before[0].kind if before else ""
        async with _wakes(self._store, self.id) as wake:
            awaited: asyncio.Future[None] | None = None
            is_quiet = True
            while True:
                wake.clear()
                if (ended := self._manager.ended(self.id)) is not None and ended is not awaited:
                    awaited = ended
                    ended.add_done_callback(lambda _: wake.set())
                while batch := await self._store.read_events(self.id, after):
                    for event in batch:
                        after, kind = event.seq, event.kind
                        yield event
                if wake.is_set():
                    continue
                if (is_quiet or kind == "run_end") and await self._is_over(kind):
                    if not await self._store.read_events(self.id, after):
                        return
                    continue
                is_quiet = not await _set_within(wake, _LOOK_S)

    @checked_arguments
    async def logged(self, after: NotNegative = 0) -> list[AgentEvent]:
        """The events that are kept so far, behind number `after`."""
        return await read_all(self._store, self.id, after)

    async def result(self) -> RunRecord:
        """The record, once the run has ended.

        Raises:
            UsageError, PluginError: it could not begin, or go on, and why; of a new run nothing is
                left then. Only for a run that this manager submitted.
        """
        ended = self._manager.ended(self.id)
        if ended is not None:  # not through its events: a run that cannot begin has none
            await asyncio.shield(ended)
        else:
            logged = await self.logged()
            async for _ in self.events(logged[-1].seq if logged else 0):
                pass
        return await self.record()

    async def questions(self) -> Sequence[Question]:
        """The open questions, the oldest first."""
        asked = await self._store.questions(self.id)
        return [question for question in asked if question.state == "open"]

    @checked_arguments
    async def answer(self, question_id: str, choice: str = "", text: str = "") -> bool:
        """Answer a question; whether it is this answer that counts. It does not where somebody was
        faster, or where the run has ended and withdrawn the question.

        Args:
            question_id: its id.
            choice: the id or the kind of a choice, a word for yes or no, or `abort`.
            text: words beside it, or alone where the question has no choices.

        Raises:
            UsageError: there is no such question or choice.
        """
        asked = {question.id: question for question in await self._store.questions(self.id)}
        question = asked.get(question_id)
        if question is None:
            raise UsageError(
                f"run {self.id} has asked no question {question_id!r}"
                f"{nearest(question_id, list(asked))}"
            )
        if question.state != "open":
            return False
        return await self._store.send(self.id, question.accept(choice, text))

    @checked_arguments
    async def cancel(self, status: Literal["aborted", "interrupted"] = "aborted") -> bool:
        """End the run, wherever it executes; False when it has ended already.

        Args:
            status: how it ends; only an `interrupted` run can be resumed.
        """
        record = await self.record()
        if record.status == "pending" and not self._manager.is_executing(self.id):
            reason = "ended by a person before it began"
            if await self._manager.withdraw(self.id, status, reason):
                return True
        if not self._goes_on(record):
            return False
        return await self._store.send(self.id, Cancel(status=status))

    async def configure(self, **settings: Any) -> None:
        """Change settings of a run that goes on, from its next iteration on.

        Args:
            settings: `max_iterations`, `max_cost`, `max_tokens`, `max_time`, `model`,
                `temperature` or `hitl_enabled`; `"none"` lifts a limit.

        Raises:
            UsageError: a setting that cannot be changed, a value that it cannot have, a model that
                nobody knows, or the run has ended.
        """
        record = await self.record()
        changes = live_settings(settings)
        await self._require_model(config_of(record, changes), changes, record)
        if not self._goes_on(record):
            raise UsageError(
                f"run {self.id} has ended: {record.status}",
                hint=f"`retrai runs resume {self.id}` takes new limits"
                if record.resumable
                else "`retrai run` starts a new one",
            )
        await self._store.send(self.id, Configure(settings=changes))

    async def resume(self, **limits: Any) -> Run:
        """Go on with a run that was interrupted, killed, or used up what it was allowed.

        Args:
            limits: as for `configure`; the limits count from the run's beginning, but for
                `max_time`, which is for what is still to come.

        Raises:
            UsageError: it cannot be resumed, and why; or the model cannot be used.
        """
        record = await self.record()
        changes = live_settings(limits)
        await self._require_model(config_of(record, changes), changes, record)
        prepare_record(record, changes)
        await self._manager.execute_again(record, Resume(settings=changes))
        return self

    async def _require_model(
        self, config: RunConfig, changes: Mapping[str, Any], record: RunRecord
    ) -> None:
        """Refuse a model that nobody knows before anything is sent to the run; and one without a
        key, where the run is to begin or go on from here."""
        if "model_name" not in changes:
            return
        from ..config.sources import Settings
        from .resolver import Resolver

        resolver = Resolver(Settings(config, record.origins), run_dir=self.folder, attended=False)
        # A run that is under way has a process of its own, with keys of its own.
        is_ready = record.status not in UNDER_WAY
        look = resolver.provider_of if is_ready else resolver.require_known
        await asyncio.to_thread(look, config.model_name)

    async def deltas(self) -> AsyncIterator[TextDelta]:
        """The model's text as it comes, from now on: not stored, best effort, without numbers."""
        while True:
            async for delta in deltas_of(self.folder):
                yield delta
            if not self._goes_on(await self.record()):
                return
            await asyncio.sleep(_CONNECT_AGAIN_S)

    @checked_arguments
    async def diff(self, since: NotNegative = 0, until: NotNegative | None = None) -> str:
        """What the run has changed, as a unified diff.

        Args:
            since: from the end of this iteration; 0: the start.
            until: to the end of this one; the last snapshot when left out.
        """
        record = await self.record()
        return await asyncio.to_thread(self._snapshots(record).diff, since, until)

    async def patch(self) -> str:
        """All that the run has changed, for `git apply`."""
        return await self.diff()

    @checked_arguments
    async def undo(self, to: NotNegative = 0, *, dry_run: bool = False) -> Undone:
        """Take back what the run has changed; what others have changed since is kept.

        Args:
            to: back to the end of this iteration; 0: before the first.
            dry_run: say only what would be done.

        Raises:
            UsageError: git is not there, or the run has no snapshot.
            WorkspaceLockedError: a run works in the project.
        """
        return await self._manager.undo(await self.record(), to, dry_run=dry_run)

    @checked_arguments
    async def tool_result(self, call_id: str) -> JournalledResult | None:
        """The whole result of a tool call, of which the event has the beginning."""
        return await self._store.tool_result(self.id, call_id)

    @checked_arguments
    async def artifact(self, name: str) -> bytes | None:
        """What the run has kept under a name (`receipt.json`); None where there is none."""
        return await self._store.get_blob(self.id, name)

    def _snapshots(self, record: RunRecord) -> Any:
        from ..storage.snapshots import Snapshots

        return Snapshots(self.folder, record.project)

    def _goes_on(self, record: RunRecord) -> bool:
        return record.status in ("pending", *UNDER_WAY) or self._manager.is_to_go_on(record)

    async def _is_over(self, last_kind: str) -> bool:
        """Whether no event is written any more: the run has ended, and its log says so."""
        record = await self.record()
        if record.status == "pending" or self._manager.is_to_go_on(record):
            return False
        if last_kind == "run_end" and record.status not in UNDER_WAY:
            return True
        # Nobody may be left to write the end; where somebody is, the claim cannot be taken.
        ended = await end_killed_run(self._store, self._manager.state, self.id)
        return ended is not None and ended.status not in ("pending", *UNDER_WAY)


def live_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under the names of `RunConfig`; those that are None were not given.

    Raises:
        UsageError: one cannot be changed while a run goes on.
    """
    known = {RunConfig.model_fields[name].alias or name: name for name in LIVE_SETTINGS}
    known |= {name: name for name in LIVE_SETTINGS}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{name} cannot be changed while a run goes on{nearest(name, sorted(known))}",
                hint=f"these can: {', '.join(sorted(known))}",
            )
    return {known[name]: value for name, value in given.items() if value is not None}


@asynccontextmanager
async def _wakes(store: RunStore, run_id: str) -> AsyncGenerator[asyncio.Event]:
    """Set whenever the run may have changed."""
    wake = asyncio.Event()

    async def listen() -> None:
        async for _ in store.changes(run_id):
            wake.set()

    listener = asyncio.create_task(listen())
    try:
        yield wake
    finally:
        listener.cancel()
        await asyncio.wait({listener})


async def _set_within(wake: asyncio.Event, limit_s: float) -> bool:
    try:
        return await asyncio.wait_for(wake.wait(), limit_s)
    except TimeoutError:
        return False
