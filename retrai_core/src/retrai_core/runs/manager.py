"""Prepares, submits, finds and follows runs: the only API that frontends need."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from ..config.model import ONLY_USERS
from ..contracts.record import UNDER_WAY, RunRecord, Status
from ..contracts.store import RunFilter, RunStore
from ..errors import RunNotFoundError, RunUnderWayError, UsageError
from ..plugins.kinds import Kind
from ..storage.state_folder import state_dir
from .arguments import Days, NotNegative, Temperature, checked_arguments
from .handle import Run
from .last_event import end_killed_run, worker_name
from .open_parts import open_engine, open_store

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ..contracts.engine import Engine
    from ..contracts.memory import MemoryStore
    from ..contracts.plan import RunPlan
    from ..contracts.store import Resume, UnreadableRun
    from ..contracts.verdict import Verdict
    from ..storage.restore import Undone
    from .agent_graph import AgentInfo
    from .prune import Pruned
    from .queries import FoundGoal, KeyedModels, PluginInfo, SettingInfo
    from .request import RunRequest, Tell
    from .usable_models import UsableModel

_CLOSED_S = 20.0
"""How long a run that has ended may take to close its parts."""


class RunManager:
    """The session API: one object for any number of runs; an asynchronous context manager.

    Args:
        store: where runs are kept, and whoever gives one closes it; or the name of a store; the
            user's settings say it (`store:`) when left out.
        engine: the name of what executes them; the user's settings (`engine:`) when left out.
        max_parallel: so many runs execute at once, and more wait in their order; None: no limit.
        tell: hears what a person should know while there is no run yet whose events could say it.
        wait_for_project: a run with a goal waits, `pending`, while another run of this manager
            works in its project; else it is refused there, with a `WorkspaceLockedError`.

    Example:
        >>> async def fix(project):
        ...     async with RunManager() as manager:
        ...         request = await manager.prepare(project, goal="pytest", model="offline")
        ...         run = await manager.submit(request)
        ...         return (await run.result()).status
    """

    def __init__(
        self,
        store: RunStore | str | None = None,
        engine: str | None = None,
        max_parallel: int | None = None,
        *,
        tell: Tell | None = None,
        wait_for_project: bool = False,
    ) -> None:
        self._owns_store = not isinstance(store, RunStore)
        self.store = store if isinstance(store, RunStore) else open_store(store)
        folder = getattr(self.store, "state", None)  # that of the store `files`
        self.state = folder if isinstance(folder, Path) else state_dir()
        self._engine_name = engine
        self._engine: Engine | None = None
        self._is_closed = False
        self._is_paused = False
        self._waits_for_project = wait_for_project
        self._max_parallel = max_parallel
        self._tell = tell or _say_nothing
        self._requests: dict[str, RunRequest] = {}
        self._waiting: deque[str] = deque()
        self._ended: dict[str, asyncio.Future[None]] = {}
        self._last_parts: dict[str, float | None] = {}
        self._executing: dict[str, asyncio.Future[None]] = {}
        self._following: set[asyncio.Future[None]] = set()
        self._projects: dict[str, Path] = {}

    async def __aenter__(self) -> Self:
        """The manager itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Give back what the manager holds. Runs of this process end as `interrupted`; those in
        processes of their own go on, and so do those that wait, when a manager attaches again."""
        self._waiting.clear()
        self._is_closed = True
        if self._engine is not None:
            await self._engine.aclose()
        for following in (left := set(self._following)):
            following.cancel()
        if left:
            await asyncio.wait(left)
        for run_id, ended in self._ended.items():
            if not ended.done():
                ended.set_exception(_closed(run_id))
        if self._owns_store:
            await self.store.aclose()

    # From settings to a run

    @checked_arguments
    async def prepare(
        self,
        project: Path | str,
        *,
        goal: str | Sequence[str] | None = None,
        agent: str | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the name that the record has
        labels: Mapping[str, str] | None = None,
        parent: str | None = None,
        continues: str | None = None,
        trust: str | None = None,
        attended: bool = False,
        interactive: bool = False,
        locked: bool = False,
        check_only: bool = False,
        **settings: Any,
    ) -> RunRequest:
        """Merge the settings of every source, choose the plugins, validate their options.

        Args:
            project: its folder, on this machine.
            goal: the goal's name; found from the project where no source names one. An empty list
                is a run without a goal, for an agent that needs none.
            agent: the agent's name.
            input: what the agent is given; `task=` is the goal loop's.
            labels: the caller's own, for `list`.
            parent: the run that asks for this one.
            continues: the run whose result the agent goes on from.
            trust: the digest of a `TrustRequired`: consent to exactly what it showed.
            attended: somebody sees the events while the run goes on, and can act on them (a login).
            interactive: somebody answers questions: about tool calls that need consent, protected
                files, suspect verdicts. `hitl_enabled=True` asks after each iteration too.
            locked: only with the plugins that `retrai.lock` names.
            check_only: for `check`, which needs no model: only the goal is looked at yet.
            settings: any key of `.retrai.yml`; stronger than the files and the environment.

        Raises:
            TrustRequired: the project's own file sets what needs the user's consent.
            UsageError, PluginError: nothing can be run like that, and why.
        """
        from .request import prepare

        for name in sorted(settings.keys() & set(ONLY_USERS)):
            raise UsageError(
                f"{name}: a request cannot say it",
                hint=f"`RunManager({name}=...)` does"
                if name in ("store", "engine")
                else "it belongs in the user's own configuration",
            )
        if parent is not None:
            parent = (await self._earlier("parent", parent)).id
        if continues is not None:
            earlier = await self._earlier("continues", continues)
            continues = earlier.id
            if earlier.status in ("pending", *UNDER_WAY):
                raise UsageError(
                    f"continues: run {continues} has no result yet: {earlier.status}",
                    hint=f"`retrai runs follow {continues}` shows when it has ended",
                )
        goals = [goal] if isinstance(goal, str) or goal is None else list(goal)
        given = {**settings, "goal": goals[0] if len(goals) == 1 else goals}
        given |= {"agent": agent, "input": None if input is None else dict(input)}
        return await prepare(
            Path(project),
            self.state,
            self._tell,
            given,
            trust=trust,
            locked=locked,
            check_only=check_only,
            labels=dict(labels or {}),
            parent=parent,
            continues=continues,
            attended=attended,
            interactive=interactive,
        )

    @checked_arguments
    async def demo(self, folder: Path | str, **settings: Any) -> RunRequest:
        """Copy the demo, a small broken project, to a new folder, and prepare a run that fixes it
        without a key.

        Args:
            folder: does not exist yet.
            settings: as for `prepare`.

        Raises:
            UsageError, PluginError: it cannot be copied, or be run.
        """
        from .demo import prepare_demo

        return await prepare_demo(self, Path(folder), settings)

    @checked_arguments
    async def submit(self, request: RunRequest) -> Run:
        """Begin a run; it does not depend on who awaits it.

        Raises:
            UsageError, PluginError: the request was made in another installation, and cannot be
                used here.
        """
        request = await request.completed(self._folder(request.run_id), self._tell)
        record = request.record()
        engine = self._opened_engine()
        record.engine = engine.name
        # Not half of it where the caller is cancelled: nobody would execute what is stored.
        await asyncio.shield(self._create(record, request))
        return Run(self, record.id)

    async def _create(self, record: RunRecord, request: RunRequest) -> None:
        await self.store.create(record)
        self._requests[record.id] = request
        self._enqueue(record)

    @checked_arguments
    async def get(self, run_id: str) -> Run:
        """The run with this id, or the only one whose id begins with it.

        Raises:
            RunNotFoundError: none or several do.
        """
        return Run(self, (await self.store.load(run_id)).id)

    @checked_arguments
    async def list(self, **wanted: Unpack[RunFilter]) -> Sequence[RunRecord | UnreadableRun]:
        """Runs, newest first: see `RunFilter`."""
        return await self.store.list(**wanted)

    async def events(self) -> AsyncIterator[RunRecord]:
        """The record of any run, whenever its status, iterations, tokens or cost have changed, from
        now on."""
        known: dict[str, tuple[object, ...]] = {}
        async for run_id in self.store.changes(None):
            try:
                record = await self.store.load(run_id)
            except UsageError:  # deleted
                continue
            shown = (record.status, record.iterations, record.tokens.total, record.cost_usd)
            if known.get(run_id) != shown:
                known[run_id] = shown
                yield record

    async def attach(self, wanted: Callable[[RunRecord], bool] | None = None) -> None:
        """After a restart: take up the runs that an earlier manager left waiting or running in
        processes of their own, in their order.

        Args:
            wanted: says of each whether it is taken up; all are when left out.
        """
        engine = self._opened_engine()
        await engine.attach()
        every = [run for status in ("pending", *UNDER_WAY) for run in await self._of(status)]
        found = [run for run in every if wanted is None or wanted(run)]
        for run in found:
            if run.status != "pending" and run.id not in self._executing:
                self._note_project(run)
                self._follow(run.id)
        for run in sorted(found, key=lambda run: run.created_at):
            if run.status == "pending" and run.id not in self._ended:
                self._enqueue(run)

    def pause(self) -> None:
        """Begin no further run: those that wait stay `pending`, until a manager attaches."""
        self._is_paused = True

    # What is there

    @checked_arguments
    async def check(
        self, request: RunRequest, *, baseline: Verdict | None = None, final: bool = True
    ) -> Verdict:
        """What the goal says of the project now, without a run.

        Args:
            request: from `prepare`.
            baseline: an earlier verdict: no case that stood then may be missing or skipped now.
            final: check once more on a clean copy, and look for reasons not to believe it; else
                it is one plain check in place.

        Raises:
            UsageError, PluginError: the check cannot be run, and why.
        """
        from .check import check

        if request.versions and not request.goals:  # of one that was not prepared nobody knows yet
            raise UsageError(
                f"the request has no goal to check, only the agent {request.config.agent}",
                hint="`prepare(project, goal=...)` makes one that has",
            )
        return await check(request.settings, baseline, final=final)

    @checked_arguments
    async def detect(self, project: Path | str) -> Sequence[FoundGoal]:
        """The goals whose sign the project shows, the likeliest first."""
        from .queries import detect

        return await asyncio.to_thread(detect, Path(project))

    @checked_arguments
    async def plan(self, project: Path | str) -> RunPlan:
        """Which plugins a run of the project would use, and why; none is imported.

        Raises:
            UsageError: the configuration cannot be read.
        """
        from .plan import plan_run

        return await asyncio.to_thread(plan_run, Path(project))

    @checked_arguments
    async def plugins(self, kind: Kind | None = None) -> Sequence[PluginInfo]:
        """Every installed plugin, or those of one kind; none is imported."""
        from .queries import plugins

        return await asyncio.to_thread(plugins, kind)

    async def goals(self) -> Sequence[PluginInfo]:
        """Every installed goal."""
        return await self.plugins("goal")

    @checked_arguments
    async def goal_options(self, name: str, project: Path | str = ".") -> dict[str, Any]:
        """The options of a goal as a JSON schema, for a form; the goal is imported.

        Args:
            name: the goal's name.
            project: its own checks have names too.

        Raises:
            UsageError, PluginError: there is no such goal, or it is broken.
        """
        from .queries import goal_options

        return await asyncio.to_thread(goal_options, Path(project), name)

    @checked_arguments
    async def agents(self, project: Path | str = ".") -> Sequence[AgentInfo]:
        """Every installed agent: what it is given, and its graph as nodes and edges. They are
        imported; one that is broken says so.

        Args:
            project: its settings have the agents' options.
        """
        from ..config.sources import load_settings
        from .agent_graph import agents
        from .trust import without_claims

        settings = await asyncio.to_thread(load_settings, Path(project))
        return await asyncio.to_thread(lambda: agents(without_claims(settings)))

    async def models(self) -> Sequence[UsableModel]:
        """The models that can be used here: keys that are set, servers that answer on this machine;
        nothing else is asked."""
        from ..config.sources import user_settings
        from .resolver import Resolver
        from .usable_models import usable_models

        return (await asyncio.to_thread(lambda: usable_models(Resolver(user_settings())))).models

    @checked_arguments
    def model(
        self, name: str, api_key: str | None = None, temperature: Temperature = 0.0
    ) -> AbstractAsyncContextManager[BaseChatModel]:
        """A LangChain chat model by the user's own settings, without a run.

        Args:
            name: any name that an installed provider knows.
            api_key: a key for this model alone; nothing is cached then.
            temperature: its temperature.

        Raises:
            UsageError, PluginError: on entering: nobody knows it, or it is not ready.
        """
        from .queries import open_model

        return open_model(name, api_key, temperature)

    def keyed_models(self) -> AbstractAsyncContextManager[KeyedModels]:
        """Chat models of many callers who each bring a key, by the user's own settings, for a
        server: its providers stay until it is left. `await models.make(name, key, temperature)`.

        Raises:
            UsageError: on entering: a configuration file is of no use.
        """
        from .queries import open_keyed_models

        return open_keyed_models()

    @checked_arguments
    async def settings(self, project: Path | str) -> Sequence[SettingInfo]:
        """Every setting of a project, its value, and where that comes from. The model is the one
        that a run would take.

        Raises:
            UsageError: a configuration file is of no use.
        """
        from .queries import settings_of

        return await asyncio.to_thread(settings_of, Path(project))

    @checked_arguments
    def memory(self, project: Path | str) -> AbstractAsyncContextManager[MemoryStore]:
        """The project's memory store: what earlier runs have taught.

        Raises:
            UsageError, PluginError: on entering: it has none, or it is broken.
        """
        from .queries import open_memory

        return open_memory(Path(project), self._tell)

    @checked_arguments
    async def prune(
        self,
        *,
        keep: NotNegative | None = None,
        older_than_days: Days | None = None,
        unfinished: bool = False,
        unreadable: bool = False,
    ) -> Pruned:
        """Delete runs beyond the newest `keep`, or older than so many days; none that goes on.

        Args:
            keep: how many stay.
            older_than_days: those stay that ended later than that.
            unfinished: `keep` counts interrupted and pending runs like all others; else they stay
                beside the newest, until they are too old.
            unreadable: those whose record cannot be read count like all others; else they stay.
        """
        from .prune import prune

        return await prune(
            self.store,
            self.state,
            keep=keep,
            older_than_days=older_than_days,
            unfinished=unfinished,
            unreadable=unreadable,
        )

    # What a handle needs

    def ended(self, run_id: str) -> asyncio.Future[None] | None:
        """Done when a run that this manager submitted has ended; None for any other."""
        return self._ended.get(run_id)

    async def execute_again(self, record: RunRecord, command: Resume) -> None:
        """Have a run executed that somebody wants to go on with."""
        while (ended := self._ended.get(record.id)) is not None and not ended.done():
            # Its record says that it has ended: whoever worked on it is just closing its parts.
            if self.is_to_go_on(record) or not (await asyncio.wait({ended}, timeout=_CLOSED_S))[0]:
                raise UsageError(f"run {record.id} is under way already")
        self._opened_engine()
        # Before anything is awaited: of two who ask for it here one does it.
        ended = self._ended[record.id] = _quiet_future()
        self._last_parts[record.id] = record.part_started_at
        try:
            await self.store.send(record.id, command)
        except BaseException as error:
            ended.set_exception(error if isinstance(error, UsageError) else _closed(record.id))
            raise
        self._enqueue(record)

    def is_executing(self, run_id: str) -> bool:
        """Whether a run is executed by this manager's engine, or is about to be."""
        return run_id in self._executing

    def is_to_go_on(self, record: RunRecord) -> bool:
        """Whether a run is about to be gone on with here: its record still tells how it ended."""
        ended = self._ended.get(record.id)
        waits = ended is not None and not ended.done() and record.id in self._last_parts
        return waits and self._last_parts[record.id] == record.part_started_at

    async def withdraw(self, run_id: str, status: Status, reason: str) -> bool:
        """End a run that nobody has taken yet; False where somebody has."""
        from .run_end import finish

        claim = await self.store.claim(run_id, worker_name())
        if claim is None:
            return False
        try:
            record = await self.store.load(run_id)
            if record.status != "pending":
                return False
            finish(record, status, reason)
            await self.store.save(claim, record)
        finally:
            await self.store.release(claim)
        await end_killed_run(self.store, self.state, run_id)  # its last event
        if run_id in self._waiting:
            self._waiting.remove(run_id)
            self._requests.pop(run_id, None)
            self._projects.pop(run_id, None)
            self._ended[run_id].set_result(None)
        return True

    async def undo(self, record: RunRecord, to: int, *, dry_run: bool) -> Undone:
        """Take back what a run has changed: see `Run.undo`."""
        from ..storage.snapshots import Snapshots
        from ..storage.undo import undo
        from ..verification.clean_up import clean_up_killed_runs
        from ..workspace.lock import WorkspaceLock

        if to > record.iterations:
            raise UsageError(f"run {record.id} has made {record.iterations} iterations, not {to}")

        def work() -> Undone:
            with WorkspaceLock(record.project, self.state, f"undo of {record.id}"):
                for line in clean_up_killed_runs(self.state, record.project):
                    self._tell(line)
                snapshots = Snapshots(self._folder(record.id), record.project)
                return undo(snapshots, record.project, to, dry_run=dry_run)

        return await asyncio.to_thread(work)

    # What an engine needs

    def execute(self, run_id: str) -> Coroutine[Any, Any, None]:
        """Work on a run in this event loop: see `EngineHost`."""
        from .executor import Executor

        request = self._requests.pop(run_id, None)
        resolved = None if request is None else request.take_resolved()
        return Executor(self.store, self.state, run_id, resolved, self._tell).run()

    async def note_killed(self, run_id: str, reason: str) -> None:
        """Write the end of a run whose process has died: see `EngineHost`."""
        with suppress(RunNotFoundError):  # it could not begin, and nothing is left of it
            record = await end_killed_run(self.store, self.state, run_id, reason)
            if record is not None and record.status == "pending":
                await self.withdraw(run_id, "error", reason)

    async def _earlier(self, argument: str, run_id: str) -> RunRecord:
        try:
            return await self.store.load(run_id)
        except RunNotFoundError as error:
            raise UsageError(f"{argument}: {error.message}", hint=error.hint) from error

    async def _of(self, status: Status) -> Sequence[RunRecord]:
        """This engine's runs of a status."""
        name = self._opened_engine().name
        found = await self.store.list(status=status)
        return [run for run in found if isinstance(run, RunRecord) and run.engine == name]

    def _follow(self, run_id: str) -> None:
        """Count a run that executes elsewhere among this manager's, until it ends."""

        async def followed() -> None:
            async for _ in Run(self, run_id).events():
                pass

        following = asyncio.ensure_future(followed())
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        self._note_execution(run_id, following)

    def _folder(self, run_id: str) -> Path:
        return self.state / "runs" / run_id

    def _opened_engine(self) -> Engine:
        if self._is_closed:
            raise UsageError("the manager is closed", hint="make another `RunManager()`")
        if self._engine is None:
            self._engine = open_engine(self._engine_name, self)
        return self._engine

    def _enqueue(self, record: RunRecord) -> None:
        self._expect_end(record.id)
        self._note_project(record)
        self._waiting.append(record.id)
        self._start_next()

    def _note_project(self, record: RunRecord) -> None:
        if self._waits_for_project and record.goals:  # others lock it once a tool may change it
            self._projects[record.id] = record.project.resolve()

    def _start_next(self) -> None:
        if self._is_paused:
            return
        limit = self._max_parallel
        busy = {self._projects[run_id] for run_id in self._executing if run_id in self._projects}
        for run_id in list(self._waiting):
            if limit is not None and len(self._executing) >= limit:
                return
            project = self._projects.get(run_id)
            if project is None or project not in busy:
                self._waiting.remove(run_id)
                if project is not None:
                    busy.add(project)
                self._note_execution(run_id, self._opened_engine().submit(run_id))

    def _note_execution(self, run_id: str, task: asyncio.Future[None]) -> None:
        self._expect_end(run_id)
        self._executing[run_id] = task
        task.add_done_callback(partial(self._note_end, run_id))

    def _expect_end(self, run_id: str) -> None:
        if run_id not in self._ended or self._ended[run_id].done():
            self._ended[run_id] = _quiet_future()

    def _note_end(self, run_id: str, task: asyncio.Future[None]) -> None:
        del self._executing[run_id]
        self._requests.pop(run_id, None)
        self._projects.pop(run_id, None)
        ended = self._ended[run_id]
        is_taken = not task.cancelled() and isinstance(task.exception(), RunUnderWayError)
        if is_taken and run_id not in self._last_parts:  # another manager has begun the new run
            self._follow(run_id)
            return
        if not ended.done():
            if task.cancelled():
                ended.set_exception(_closed(run_id))
            elif error := task.exception():
                ended.set_exception(error)
            else:
                ended.set_result(None)
        self._start_next()


def _closed(run_id: str) -> UsageError:
    return UsageError(
        f"the manager was closed, and run {run_id} has not ended",
        hint=f"`retrai runs follow {run_id}`",
    )


def _quiet_future() -> asyncio.Future[None]:
    """Whoever does not ask for the result need not hear of an error either."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future


def _say_nothing(_: str) -> None:
    """Nobody listens."""
