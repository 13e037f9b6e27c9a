"""Builds a run from what was chosen: the one place that knows registries and rooms alike."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .building import ClosingTime, PartsStack, built, close, first_working
from .chosen import CheckChoice, Choice, Part
from .contracts.agent import Agent
from .contracts.context import RunContext
from .contracts.event_sink import EventSink
from .contracts.llm import LLMProvider
from .contributing import contribute
from .errors import PluginError, UsageError
from .events import AgentEvent
from .guard.guard import Guard
from .loop.budget import Budget
from .loop.deadline import end
from .loop.spending import Spending
from .loop.tool_call import SIDE_BY_SIDE
from .other_models import OtherModels
from .plugin_answers import checked_options
from .plugins.aside import start_aside
from .plugins.hooks import HookCaller
from .plugins.other_hookspecs import load_hookspecs, unknown_hooks
from .plugins.patience import patiently
from .plugins.record import PluginRecord
from .redaction.redactor import Redactor
from .run_config import RunConfig
from .workspace.safe_paths import SafeWorkspace
from .workspace.temporary import remove_left_folders

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_IMPORT_LIMIT_S = 5.0
"""For imports that are under way when a run ends: Python may crash where it ends amid one."""


@dataclass
class Wired:
    """A run that is ready to start.

    Attributes:
        guard: keeps the check honest; None in a run without a goal.
        sinks: the event sinks, which nobody has built yet.
        spending: what the run's model calls may use, and have used.
        warming: imports what is slow to import, in a thread, from the moment the model's provider
            is there; await it before the first model call.
        contributing: adds the tools that plugins offer at run time (an MCP server's, say) to the
            context's, beside the baseline check; await it before the tools are used.
        left_out: those of them that the user does not want, by name.
    """

    context: RunContext
    agent: Agent
    guard: Guard | None
    hooks: HookCaller
    sinks: list[Part[EventSink]]
    spending: Spending
    warming: asyncio.Future[None]
    contributing: asyncio.Task[None]
    left_out: set[str]

    @property
    def may_change_project(self) -> bool:
        """Whether a tool of the run can write or run something."""
        return any(not tool.needs <= SIDE_BY_SIDE for tool in self.context.tools.values())


async def wire(
    stack: PartsStack,
    choice: Choice,
    run_dir: Path,
    on_event: Callable[[AgentEvent], None],
    redactor: Redactor | None = None,
) -> Wired:
    """Build every part of the run, in the order in which they may use each other.

    Args:
        stack: closes the parts, whatever happens.
        choice: what it is built from.
        run_dir: the run's own folder.
        on_event: hears what the parts publish.
        redactor: knows the project's secrets; one that knows only their forms when left out.

    Raises:
        UsageError: no sandbox works, the goal's runner is missing.
        PluginError: a plugin cannot be built, or a tool gate is broken (gates fail closed).
    """
    config = choice.config
    workspace = SafeWorkspace(config.cwd)
    context = _context(choice, run_dir, workspace, on_event, redactor or Redactor())
    for notice in choice.notices:
        context.publish("log", level=notice.level, message=notice.message)
    python = choice.interpreter
    context.publish("log", level="info", message=f"python {python.path} ({python.origin})")
    others = await stack.enter_async_context(PartsStack(stack.closing_time))
    context.models_part = OtherModels(config, choice.catalog, context, others)
    spending = Spending(Budget(config.max_cost_usd, config.max_tokens))
    context.counting_part = partial(_counted, context, spending)
    # Before the warm-up: two threads that import modules which import each other deadlock.
    hooks = await _load_hooks(choice, context)
    sinks = await _load_sinks(choice, context)
    # The first part, since its warm-up is what the first request waits for longest.
    context.provider_part = built(choice.provider, context, stack)
    warming = _warming(context)
    stack.push_async_callback(_finish, warming, stack.closing_time)
    await asyncio.to_thread(remove_left_folders)
    context.sandbox_part = await first_working(choice, context, stack)
    if choice.goal is not None:
        context.goal_part = built(choice.goal, context, stack)
    for tool in choice.tools:
        context.tools[tool.record.name] = built(tool, context, stack)
    if choice.memory is not None:
        context.memory_part = built(choice.memory, context, stack)
    agent = built(choice.agent, context, stack)
    late = await stack.enter_async_context(PartsStack(stack.closing_time))
    left_out: set[str] = set()
    close_tool = partial(close, late.closing_time)
    offers = contribute(hooks, context, late, close_tool, partial(_leave_out, config, left_out))
    contributing = asyncio.create_task(offers)
    stack.push_async_callback(_cancel, contributing, stack.closing_time)
    guard = None
    if choice.goal is not None:
        guard = Guard(context, config.allow_edit)
        workspace.refuse_write = guard.refuse_write
        workspace.on_refused = guard.note_refusal
        await _refuse_unready(choice.goal_name, context)
    return Wired(context, agent, guard, hooks, sinks, spending, warming, contributing, left_out)


@asynccontextmanager
async def wire_check(choice: CheckChoice, run_dir: Path) -> AsyncGenerator[Guard]:
    """Build what a check alone needs; the guard asks it, and everything is closed behind it.

    Raises:
        UsageError: no sandbox works, the goal's runner is missing.
        PluginError: a plugin cannot be built.
    """
    config = choice.config
    context = RunContext(
        run_id=config.run_id,
        project=config.cwd,
        workspace=SafeWorkspace(config.cwd),
        python=choice.interpreter.path,
        run_dir=run_dir,
        model_name=config.model_name,
        plugin_options=config.plugins,
    )
    async with PartsStack() as stack:
        context.models_part = OtherModels(config, choice.catalog, context, stack)
        context.sandbox_part = await first_working(choice, context, stack)
        context.goal_part = built(choice.goal, context, stack)
        await _refuse_unready(choice.goal_name, context)
        yield Guard(context, config.allow_edit)


def _context(
    choice: Choice,
    run_dir: Path,
    workspace: SafeWorkspace,
    on_event: Callable[[AgentEvent], None],
    redactor: Redactor,
) -> RunContext:
    """The context of a run, before any part of it is built."""
    config = choice.config
    return RunContext(
        run_id=config.run_id,
        project=config.cwd,
        workspace=workspace,
        python=choice.interpreter.path,
        run_dir=run_dir,
        model_name=config.model_name,
        input=choice.input,
        task=config.task,
        goal_name=choice.goal_name,
        context_tokens=config.context_tokens,
        max_iterations=config.max_iterations,
        hitl_enabled=config.hitl_enabled,
        attended=choice.attended,
        plugin_options=config.plugins,
        permissions=config.permissions.model_dump() if config.permissions else {},
        mcp=config.mcp,
        on_event=on_event,
        redactor=redactor,
    )


def _leave_out(config: RunConfig, left_out: set[str], tool: str) -> bool:
    if config.leaves_out(tool):
        left_out.add(tool)
    return tool in left_out


async def _refuse_unready(goal: str, context: RunContext) -> None:
    problem = await context.goal.ready()
    if problem is not None:
        raise UsageError(f"the goal {goal} cannot be checked: {problem}")


def _warming(context: RunContext) -> asyncio.Future[None]:
    """Start the warm-up in a thread, at once: who waits for it may block the event loop."""
    context.warmed_up.clear()
    warming = start_aside(partial(_warm_up, context))
    warming.add_done_callback(lambda _: context.warmed_up.set())  # also where it never began
    return warming


def _counted(
    context: RunContext,
    spending: Spending,
    model: BaseChatModel,
    name: str,
    provider: LLMProvider,
) -> BaseChatModel:
    from .loop.counted_model import Account, CountedModel  # LangChain is slow to import

    return CountedModel(model=model, account=Account(context, spending, name, provider))


def _warm_up(context: RunContext) -> None:
    """Import what the loop needs; the imports are the run's slowest part, and the baseline check
    runs in a process of its own meanwhile. The provider first: it may import beside us."""
    collecting = gc.isenabled()
    gc.disable()  # what is imported stays; looking through it all the while takes a sixth longer
    try:
        context.provider.warm_up()
        for name in ("act", "evaluate", "human_check", "plan"):
            import_module(f"{__package__}.loop.{name}")
        import_module(f"{__package__}.storage.checkpoints")
        import_module("langgraph.graph")
    finally:
        if collecting:
            gc.enable()
        context.warmed_up.set()


async def _finish(warming: asyncio.Future[None], closing_time: ClosingTime) -> None:
    """Wait for the thread; an import cannot be cancelled, and one that hangs is left behind."""
    await asyncio.wait({warming}, timeout=min(_IMPORT_LIMIT_S, closing_time.left_s()))
    if warming.done() and not warming.cancelled():
        warming.exception()  # has been told by then


async def _cancel(task: asyncio.Task[None], closing_time: ClosingTime) -> None:
    """End it and wait for the end: what it has started is given back by itself."""
    if not task.done():
        await end(task, closing_time.left_s())
    elif not task.cancelled():
        task.exception()


async def _load_hooks(choice: Choice, context: RunContext) -> HookCaller:
    """Load every hook plugin; one that is broken is left out, unless it guards tool calls."""
    warn = partial(context.publish, "log", level="warning")
    loaded: list[tuple[PluginRecord, object]] = []
    broken: list[tuple[PluginRecord, PluginError]] = []
    for record in choice.catalog.records("hook"):
        if record.status in ("blocked", "shadowed"):
            continue
        try:
            work = partial(choice.catalog.load, record)
            plugin = await patiently(choice.catalog, work, lambda line: warn(message=line))
            loaded.append((record, plugin))
        except PluginError as error:
            broken.append((record, error))
    unknown = unknown_hooks(plugin for _, plugin in loaded)
    others = await patiently(
        choice.catalog,
        partial(load_hookspecs, choice.catalog, unknown),
        lambda line: warn(message=line),
    )
    hooks = await asyncio.to_thread(HookCaller, loaded, others=others)
    for record, error in [*broken, *hooks.broken]:
        if "before_tool" in record.hooks or record.name in choice.config.plugins:
            raise PluginError(
                f"{error.message}; it may guard tool calls, so nothing is run without it",
                hint=error.hint or f"RETRAI_DISABLE_PLUGINS={record.name} switches it off",
            ) from error
        warn(message=str(error))
    if choice.config.permissions is not None and not hooks.implementers("before_tool"):
        raise UsageError(
            "permissions: is set, but no tool gate is installed that keeps it",
            hint="`pip install retrai-permissions`",
        )
    return hooks


async def _load_sinks(choice: Choice, context: RunContext) -> list[Part[EventSink]]:
    """Load every event sink; one that cannot be used is left out.

    Raises:
        UsageError: the user gave one an option that it does not take.
    """
    warn = partial(context.publish, "log", level="warning")
    sinks: list[Part[EventSink]] = []
    for record in choice.catalog.records("sink"):
        if record.status in ("blocked", "shadowed"):
            continue
        given = choice.config.plugins.get(record.name)
        try:
            work = partial(choice.catalog.load, record)
            plugin = await patiently(choice.catalog, work, lambda line: warn(message=line))
            cls = cast("type[EventSink]", plugin)
            options = checked_options(record, cls, given or {}, choice.config.cwd)
        except PluginError as error:
            warn(message=str(error))
        except UsageError as error:
            if given is not None:
                raise
            warn(message=f"the event sink {record.full_name} is not used: {error}")
        else:
            sinks.append(Part(record, cls, options))
    return sinks
