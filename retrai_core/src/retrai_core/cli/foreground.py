"""Does one run in the foreground: shows it, asks for answers, stops it on Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from rich.text import Text

from ..bus import Subscription
from ..plugins.aside import AsideExecutor
from ..run_config import RunConfig
from ..run_manager import HumanQuestion, RunManager
from ..runs.record import RunRecord
from .asking import ask_on_terminal, require_someone_to_ask, somebody_watches
from .output import echo
from .render.summary import head_line, summary_lines
from .render.terminal import RunTerminal, make_console
from .stop_signals import stop_signals

_DRAIN_TIMEOUT_S = 10.0
_LEFT_TASKS_S = 2.0
"""For tasks that are left when the run has ended, a plugin's own, to heed their cancellation."""

Begin = Callable[[RunManager], Awaitable[str]]
"""Makes or finds the run that is to be followed; its id."""
Work = Callable[[RunManager, str], Awaitable[RunRecord]]
"""Starts or resumes the run with this id; the record when it has ended."""


def run_in_foreground(config: RunConfig, *, as_json: bool = False) -> RunRecord:
    """Run what `config` asks for, show it, and show how it ended.

    Args:
        config: the run.
        as_json: print the record alone on standard output, the steps on standard error.

    Raises:
        UsageError: nothing can be run like that; nothing has been started.
    """

    async def begin(manager: RunManager) -> str:
        return (await manager.create(config)).id

    async def work(manager: RunManager, run_id: str) -> RunRecord:
        return await manager.start(run_id)

    return _shown(begin, work, hitl=config.hitl_enabled, as_json=as_json)


def resume_in_foreground(
    record: RunRecord, limits: Mapping[str, Any], *, as_json: bool
) -> RunRecord:
    """Go on with a run, as `run_in_foreground`.

    Args:
        record: the run.
        limits: new limits, as keywords of `RunManager.resume`; None keeps the old one.
        as_json: as for `run_in_foreground`.

    Raises:
        UsageError: it cannot be resumed, and why.
    """

    async def begin(_: RunManager) -> str:
        return record.id

    async def work(manager: RunManager, run_id: str) -> RunRecord:
        return await manager.resume(run_id, **limits)

    hitl = bool(record.config.get("hitl_enabled"))
    return _shown(begin, work, hitl=hitl, as_json=as_json)


def _shown(begin: Begin, work: Work, *, hitl: bool, as_json: bool) -> RunRecord:
    if hitl:
        require_someone_to_ask()
    terminal = RunTerminal(make_console(stderr=as_json))
    try:
        record = _run(_follow(begin, work, terminal))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # stopped before it had quite begun
    if as_json:
        echo(record.model_dump_json(indent=2))
    else:
        terminal.console.print()
        for line in summary_lines(record):
            terminal.console.print(line)
    return record


def _run(main: Coroutine[Any, Any, RunRecord]) -> RunRecord:
    """`asyncio.run`, which would wait for ever for a plugin's thread, or task, that never ends."""
    runner = asyncio.Runner()
    loop = runner.get_loop()
    loop.set_default_executor(AsideExecutor())
    try:
        return runner.run(main)
    finally:
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_LEFT_TASKS_S))
        if asyncio.all_tasks(loop):
            loop.set_exception_handler(_say_nothing)  # nobody can do anything about them
        else:
            runner.close()


def _say_nothing(_: asyncio.AbstractEventLoop, __: dict[str, Any]) -> None:
    """Of tasks that are left behind."""


async def _follow(begin: Begin, work: Work, terminal: RunTerminal) -> RunRecord:
    async def ask(question: HumanQuestion) -> str:
        return await ask_on_terminal(question, terminal)

    manager = RunManager(
        ask=ask, tell=lambda line: echo(line, err=True), attended=somebody_watches()
    )
    run_id = await begin(manager)
    head = head_line(manager.store.load(run_id))
    reader = manager.bus(run_id).subscribe()
    worker = asyncio.ensure_future(work(manager, run_id))

    def stop() -> None:
        # A run that has not quite begun is not known to its manager yet.
        if not manager.cancel(run_id):
            worker.cancel()

    with terminal, stop_signals(stop, terminal, run_id):
        shown = asyncio.create_task(_show(reader, terminal, head))
        try:
            return await worker
        finally:
            # The bus is closed when the run has ended; what is still queued is shown.
            reader.close()
            await asyncio.wait({shown}, timeout=_DRAIN_TIMEOUT_S)
            shown.cancel()


async def _show(reader: Subscription, terminal: RunTerminal, head: Text) -> None:
    begun = False
    async for event in reader:
        if not begun:  # a run that is refused, since another works there, never begins
            terminal.console.print(head)
            begun = True
        terminal.hear(event)
