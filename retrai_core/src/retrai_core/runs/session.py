"""The session of a run: all its parts, built once from the resolved run and closed once."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from ..agents.budget import Budget
from ..agents.deadline import end
from ..agents.loop_watchdog import BlockedLoopWatch
from ..agents.spending import Spending
from ..agents.tool_call import SIDE_BY_SIDE
from ..config.sources import load_settings
from ..contracts.agent import Agent
from ..contracts.context import RunContext, drop_event
from ..contracts.event_sink import EventSink
from ..contracts.llm import LLMProvider, create_model
from ..contracts.sandbox import Sandbox
from ..errors import PluginError, UsageError
from ..events import AgentEvent
from ..plugins.answers import checked_answers
from ..plugins.daemon_call import start_aside
from ..plugins.hooks import HookCaller
from ..plugins.import_timeout import load_in_thread
from ..plugins.kinds import Kind
from ..plugins.other_hookspecs import load_hookspecs, unknown_hooks
from ..plugins.record import PluginRecord
from ..plugins.standard_names import AUTO_SANDBOX, STRICT_SANDBOX
from ..redaction.redactor import Redactor
from ..storage.snapshots import Snapshots
from ..storage.state_folder import state_dir
from ..verification.clean_up import clean_up_before
from ..verification.guard import Guard
from ..verification.guarded_sandbox import guarded_sandbox
from ..verification.verifier import Verifier
from ..workspace.safe_paths import SafeWorkspace
from ..workspace.temporary import remove_left_folders, temporary_prefix
from .resolved_run import Part, ResolvedRun, make_context
from .resolver import Resolver
from .runtime_tools import contribute
from .trust import require_trust

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")

_CLOSE_LIMIT_S = 15.0
"""For all parts of a run together, since they close one after the other."""
_LEAST_CLOSE_S = 1.0
"""For each part, however long those before it took: what it started must not outlive the run."""
_IMPORT_LIMIT_S = 5.0
"""For imports that are under way when a run ends: Python may crash where it ends amid one."""


class _Closeable(Protocol):
    """A part that must be closed with the session."""

    async def aclose(self) -> None:
        """Give back what it holds."""
        ...


class RunSession:
    """The parts of one run, of a check, or of a single model call; an async context manager.

    `build` builds what was resolved and nothing else; leaving the context closes the parts in
    reverse order.

    Args:
        resolved: what it is built from.
        run_dir: the run's own folder.
        on_event: hears what the parts publish.
        redactor: knows the project's secrets; one that knows only their forms when left out.

    Attributes:
        context: what plugins see of it.
        is_built: `build` has come to its end.
        guard: keeps the check honest; None without a goal.
        verifier: asks for verdicts; None without a goal, and before the first check.
        snapshots: the trees that the run keeps.
        agent: what works. It is there, like all that follows, once a run is built.
        hooks: the run's hook plugins.
        sinks: the event sinks, which nobody has built yet.
        spending: what the run's model calls may use, and have used.
        warming: imports what is slow to import, in a thread, from the moment the model's provider
            is there; await it before the first model call.
        contributing: adds the tools that plugins offer at run time (an MCP server's, say) to the
            context's, beside the baseline check; await it before the tools are used.
        left_out: those of them that the user does not want, by name.
    """

    agent: Agent
    hooks: HookCaller
    sinks: list[Part[EventSink]]
    spending: Spending
    warming: asyncio.Future[None]
    contributing: asyncio.Task[None]

    def __init__(
        self,
        resolved: ResolvedRun,
        run_dir: Path,
        on_event: Callable[[AgentEvent], None] = drop_event,
        redactor: Redactor | None = None,
    ) -> None:
        self.resolved = resolved
        self.is_built = False
        self.guard: Guard | None = None
        self.verifier: Verifier | None = None
        self.snapshots = Snapshots(run_dir, resolved.config.cwd)
        self.left_out: set[str] = set()
        self.context = make_context(
            resolved.config,
            run_dir,
            python=resolved.interpreter.path if resolved.interpreter else sys.executable,
            attended=resolved.attended,
            on_event=on_event,
        )
        self.context.redactor = redactor or Redactor()
        self.context.input, self.context.goal_name = resolved.input, resolved.goal_name
        self.context.models_part = self._make_model
        self._stack = AsyncExitStack()
        self._closes_until: float | None = None
        self._providers: dict[str, LLMProvider] = {}

    async def __aenter__(self) -> Self:
        """The session itself; nothing is built yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every part, the last one first."""
        await self._stack.__aexit__(kind, error, trace)

    @property
    def may_change_project(self) -> bool:
        """Whether a tool of the run can write or run something."""
        return any(not tool.needs <= SIDE_BY_SIDE for tool in self.context.tools.values())

    async def build(self) -> None:
        """Build what was resolved, in the order in which the parts may use each other.

        Raises:
            UsageError: no sandbox works, the goal's runner is missing.
            PluginError: a plugin cannot be built, or a tool gate is broken (gates fail closed).
        """
        resolved, context = self.resolved, self.context
        for notice in resolved.notices:
            context.publish("log", level=notice.level, message=notice.message)
        if resolved.agent is not None:
            await self._prepare_run()
        if resolved.provider is not None:
            # The first part, since its warm-up is what the first request waits for longest.
            context.provider_part = self.build_part(resolved.provider)
        if resolved.agent is not None:
            self.warming = self._warm_up()
            await asyncio.to_thread(remove_left_folders)
        if resolved.sandboxes or resolved.agent or resolved.goal:
            context.sandbox_part = guarded_sandbox(await self._first_working_sandbox())
        if resolved.goal is not None:
            context.goal_part = self.build_part(resolved.goal)
        for tool in resolved.tools:
            context.tools[tool.record.name] = self.build_part(tool)
        if resolved.memory is not None:
            context.memory_part = self.build_part(resolved.memory)
        if resolved.agent is not None:
            self.agent = self.build_part(resolved.agent)
            self._ask_for_tools()
        if resolved.goal is not None:
            self.guard = Guard(context, resolved.config.allow_edit)
            workspace = cast("SafeWorkspace", context.workspace)
            workspace.refuse_read = self.guard.refuse_read
            workspace.refuse_write = self.guard.refuse_write
            workspace.on_refused = self.guard.note_refusal
            if problem := await context.goal.ready():
                raise UsageError(f"the goal {resolved.goal_name} cannot be checked: {problem}")
        self.is_built = True

    def build_part(self, part: Part[T]) -> T:
        """Build one plugin; it is closed with the session.

        Raises:
            UsageError: it says that an option is wrong.
            PluginError: it cannot be built.
        """
        build = cast("Callable[[Any, RunContext], T]", part.cls)
        record = part.record
        try:
            built = build(part.options, self.context)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # the run must say which one it was
            raise PluginError(
                f"the {record.kind} {record.name} of {record.dist} cannot be built: "
                f"{type(error).__name__}: {error}",
                hint=record.fix,
            ) from error
        self._stack.push_async_callback(self._close_part, cast("_Closeable", built), record)
        return checked_answers(built, record)

    def enter(self, manager: Any) -> None:
        """Enter a context manager that is left when the session is closed."""
        self._stack.enter_context(manager)

    def resolver(self, *, attended: bool = True) -> Resolver:
        """Resolves what the run needs beside its own parts: another model, say."""
        resolved, run_dir = self.resolved, self.context.run_dir
        attended = attended and resolved.attended
        return Resolver(resolved.settings, resolved.catalog, run_dir=run_dir, attended=attended)

    # Models beside the agent's

    def _make_model(self, name: str, temperature: float, api_key: str | None) -> BaseChatModel:
        """A model by its name; with a key of its own its provider is not asked whether it has one.

        Raises:
            UsageError, PluginError: nobody knows it, or it is not ready.
        """
        provider = None if api_key is not None else self._providers.get(name)
        if provider is None:
            part = self.resolver().provider_of(name, has_key=api_key is not None)
            provider = self.build_part(part)
            if api_key is None:  # built once a run
                self._providers[name] = provider
        model = create_model(provider, name, temperature, self.context, api_key)
        return self.context.counted(model, name, provider)

    def _count(self, model: BaseChatModel, name: str, provider: LLMProvider) -> BaseChatModel:
        from ..agents.counted_model import Account, CountedModel  # LangChain is slow to import

        account = Account(self.context, self.spending, name, provider)
        return CountedModel(model=model, account=account)

    # What only a run has

    async def _prepare_run(self) -> None:
        """What a run has before its first part."""
        config, context = self.resolved.config, self.context
        if python := self.resolved.interpreter:
            context.publish("log", level="info", message=f"python {python.path} ({python.origin})")
        self.spending = Spending(Budget(config.max_cost_usd, config.max_tokens))
        context.counting_part = self._count
        # Before the warm-up: two threads that import modules which import each other deadlock.
        self.hooks = await self._load_hooks()
        self.sinks = await self._load_sinks()

    def _ask_for_tools(self) -> None:
        """Begin to ask the plugins that offer tools at run time."""
        config = self.resolved.config

        def leaves_out(tool: str) -> bool:
            if config.leaves_out(tool):
                self.left_out.add(tool)
            return tool in self.left_out

        offers = contribute(self.hooks, self.context, self._stack, self._close_part, leaves_out)
        self.contributing = asyncio.create_task(offers)
        self._stack.push_async_callback(self._stop_asking)

    def _warm_up(self) -> asyncio.Future[None]:
        """Start the warm-up in a thread, at once: who waits for it may block the event loop."""
        context = self.context
        context.warmed_up.clear()
        warming = start_aside(partial(_import_what_is_slow, context))
        warming.add_done_callback(lambda _: context.warmed_up.set())  # also where it never began
        self._stack.push_async_callback(self._finish_imports, warming)
        return warming

    async def _load_every(self, kind: Kind) -> list[tuple[PluginRecord, object]]:
        """Every plugin of a kind, or the error that says why it cannot be loaded."""
        catalog, loaded = self.resolved.catalog, list[tuple[PluginRecord, object]]()
        for record in catalog.records(kind):
            if record.status in ("blocked", "shadowed"):
                continue
            try:
                loaded.append((record, await self._load(partial(catalog.load, record))))
            except PluginError as error:
                loaded.append((record, error))
        return loaded

    async def _load(self, work: Callable[[], T]) -> T:
        return await load_in_thread(self.resolved.catalog, work, self._warn)

    async def _load_hooks(self) -> HookCaller:
        """Load every hook plugin; one that is broken is left out, unless it guards tool calls."""
        every = await self._load_every("hook")
        broken = [(record, error) for record, error in every if isinstance(error, PluginError)]
        loaded = [each for each in every if not isinstance(each[1], PluginError)]
        unknown = unknown_hooks(plugin for _, plugin in loaded)
        others = await self._load(partial(load_hookspecs, self.resolved.catalog, unknown))
        resolver, config = self.resolver(), self.resolved.config
        options = {
            record.full_name: resolver.part(record, object).options
            for record, plugin in loaded
            if isinstance(plugin, type) and hasattr(plugin, "Options")
        }
        hooks = await asyncio.to_thread(HookCaller, loaded, others=others, options=options)
        for record, error in [*broken, *hooks.broken]:
            if "before_tool" in record.hooks or record.name in config.plugins:
                raise PluginError(
                    f"{error.message}; it may guard tool calls, so nothing is run without it",
                    hint=error.hint or f"RETRAI_DISABLE_PLUGINS={record.name} switches it off",
                ) from error
            self._warn(str(error))
        if config.permissions is not None and not hooks.implementers("before_tool"):
            raise UsageError(
                "permissions: is set, but no tool gate is installed that keeps it",
                hint="`pip install retrai-permissions`",
            )
        return hooks

    async def _load_sinks(self) -> list[Part[EventSink]]:
        """Load every event sink; one that cannot be used is left out.

        Raises:
            UsageError: the user gave one an option that it does not take.
        """
        sinks: list[Part[EventSink]] = []
        resolver = self.resolver()
        for record, plugin in await self._load_every("sink"):
            if isinstance(plugin, PluginError):
                self._warn(str(plugin))
                continue
            try:
                sinks.append(resolver.part(record, EventSink))
            except UsageError as error:
                if record.name in self.resolved.config.plugins:
                    raise
                self._warn(f"the event sink {record.full_name} is not used: {error}")
        return sinks

    async def _first_working_sandbox(self) -> Sandbox:
        """The strictest sandbox that works; one that was named must work."""
        problems: list[str] = []
        for part in self.resolved.sandboxes:
            sandbox = self.build_part(part)
            problem = await sandbox.probe()
            name = part.record.name
            if problem is not None:
                problems.append(f"{name} does not work here: {problem}")
                continue
            if problems:
                self._warn(
                    f"NO ISOLATION: commands run in the sandbox {name}, with your rights: "
                    f"{'; '.join(problems)}. `--sandbox strict` refuses to run so"
                )
            message = f"sandbox {name}: {part.cls.summary}"
            self.context.publish("log", level="info", message=message)
            return sandbox
        hint = {
            AUTO_SANDBOX: "",
            STRICT_SANDBOX: "fix that, or let commands run with your rights: `--sandbox local`",
        }.get(self.resolved.config.sandbox, "`sandbox: auto` takes one that works")
        if not problems:
            hint = (
                "`pip install retrai-sandbox-local`, or retrai-sandbox-bwrap, which isolates "
                "commands; `retrai plugins list --kind sandbox` shows those that are switched off"
            )
        raise UsageError("; ".join(problems) or "no sandbox can be used", hint=hint)

    def _warn(self, message: str) -> None:
        self.context.publish("log", level="warning", message=message)

    # Closing

    def _closing_time_s(self) -> float:
        """Seconds for the part that is to be closed now; the time begins with the first part."""
        now = time.monotonic()
        if self._closes_until is None:
            self._closes_until = now + _CLOSE_LIMIT_S
        return max(_LEAST_CLOSE_S, self._closes_until - now)

    async def _close_part(self, part: _Closeable, record: PluginRecord) -> None:
        """Close one part; a part that fails or hangs keeps none of the others from closing."""
        problem = await _close_within(self._closing_time_s(), part)
        if problem is not None:
            what = f"{type(problem).__name__}: {problem}"
            self._warn(f"{record.name} of {record.dist} did not close: {what}")

    async def _finish_imports(self, warming: asyncio.Future[None]) -> None:
        """Wait for the thread; an import cannot be cancelled, and one that hangs is left behind."""
        await asyncio.wait({warming}, timeout=min(_IMPORT_LIMIT_S, self._closing_time_s()))
        if warming.done() and not warming.cancelled():
            warming.exception()  # has been reported by then

    async def _stop_asking(self) -> None:
        """End it and wait for the end: what it has started is given back by itself."""
        task = self.contributing
        if not task.done():
            await end(task, self._closing_time_s())
        elif not task.cancelled():
            task.exception()


def _import_what_is_slow(context: RunContext) -> None:
    """Import what the loop needs; the imports are the run's slowest part, and the baseline check
    runs in a process of its own meanwhile. The provider first: it may import beside us."""
    collecting = gc.isenabled()
    gc.disable()  # what is imported stays; looking through it all the while takes a sixth longer
    try:
        context.provider.warm_up()
        package = __package__.rpartition(".")[0] if __package__ else ""
        for name in ("act", "evaluate", "human_check", "plan"):
            import_module(f"{package}.agents.goal_loop.{name}")
        import_module(f"{package}.storage.checkpoints")
        import_module("langgraph.graph")
        if not gc.get_freeze_count():
            gc.freeze()  # or the next whole collection takes a tenth of a second
    finally:
        if collecting:
            gc.enable()
        context.warmed_up.set()


async def _close_within(limit_s: float, part: _Closeable) -> BaseException | None:
    """Close it in a task, which is left behind where it ignores that it is cancelled."""

    async def close() -> BaseException | None:
        try:
            await part.aclose()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the run has ended; it is reported
            return error
        return None

    ends_at = time.monotonic() + limit_s
    closing = asyncio.create_task(close())
    try:
        with BlockedLoopWatch().over_all(lambda now: now > ends_at):
            await asyncio.wait({closing}, timeout=limit_s)
        if not closing.done():
            return TimeoutError(f"it did not finish within {limit_s:.0f} s")
        return asyncio.CancelledError() if closing.cancelled() else closing.result()
    finally:
        closing.cancel()


@asynccontextmanager
async def open_workbench(
    project: Path,
    model: str | None = None,
    *,
    agreed: bool = False,
    attended: bool = True,
    on_event: Callable[[AgentEvent], None] = drop_event,
) -> AsyncGenerator[RunContext]:
    """The context that a run of the project would have, without a goal, tools and memory.

    Args:
        project: its folder; its configuration counts as for a run.
        model: the model's name; the configured one when left out.
        agreed: the user agrees to what the configuration runs.
        attended: as `RunContext.attended`.
        on_event: hears what the parts say.

    Raises:
        UsageError: a setting is wrong, the model is not ready, no sandbox works, or nobody has
            agreed to what the configuration runs.
        PluginError: a plugin that is needed is broken.
    """
    left = await asyncio.to_thread(clean_up_before, project, state_dir())
    settings = load_settings(project, {"model": model})
    require_trust(settings, agreed=agreed)
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-bench")) as folder:
        resolver = Resolver(settings, run_dir=Path(folder), attended=attended)
        redactor = await asyncio.to_thread(Redactor.of, resolver.config.cwd, os.environ)
        resolved = resolver.model_only()
        async with RunSession(resolved, Path(folder), on_event, redactor) as session:
            for line in left:
                session.context.publish("log", level="warning", message=line)
            await session.build()
            yield session.context
