"""Follows one run in the foreground: shows it, asks for answers, stops it on Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import psutil

from ..bus import Subscription
from ..errors import UsageError
from ..run_manager import HumanQuestion, RunManager
from ..runs.record import RunRecord
from .failures import EXIT_INTERRUPTED
from .render.terminal import RunTerminal

_DRAIN_TIMEOUT_S = 10.0
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Begin = Callable[[RunManager], Awaitable[str]]
"""Makes or finds the run that is to be followed; its id."""
Work = Callable[[RunManager, str], Awaitable[RunRecord]]
"""Starts or resumes the run with this id; the record when it has ended."""


def follow_run(begin: Begin, work: Work, terminal: RunTerminal) -> RunRecord:
    """Do a run from its first event to its last; how it ended.

    The first Ctrl-C (or SIGTERM) ends the run as interrupted, with a record that can be resumed;
    the second ends the program and every process it has started, at once.
    """
    return asyncio.run(_follow(begin, work, terminal))


def require_someone_to_ask() -> None:
    """Refuse a run that asks a person where nobody could answer.

    Raises:
        UsageError: standard input is no terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "--hitl needs a terminal to ask on, and standard input is none",
            hint="leave --hitl out, or start it from a terminal",
        )


async def _follow(begin: Begin, work: Work, terminal: RunTerminal) -> RunRecord:
    async def ask(question: HumanQuestion) -> str:
        return await _ask_on_terminal(question, terminal)

    manager = RunManager(ask=ask)
    run_id = await begin(manager)
    reader = manager.bus(run_id).subscribe()
    worker = asyncio.ensure_future(work(manager, run_id))

    def stop() -> None:
        # A run that has not quite begun is not known to its manager yet.
        if not manager.cancel(run_id):
            worker.cancel()

    with terminal, _stop_signals(stop, terminal):
        shown = asyncio.create_task(_show(reader, terminal))
        try:
            return await worker
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            # The bus is closed when the run has ended; what is still queued is shown.
            reader.close()
            await asyncio.wait({shown}, timeout=_DRAIN_TIMEOUT_S)
            shown.cancel()


async def _show(reader: Subscription, terminal: RunTerminal) -> None:
    try:
        async for event in reader:
            terminal.hear(event)
    except BrokenPipeError:
        # Nobody reads any more (`| head`). The run goes on, and its log has every line.
        return


@contextmanager
def _stop_signals(stop: Callable[[], None], terminal: RunTerminal) -> Generator[None]:
    loop = asyncio.get_running_loop()
    heard: list[int] = []

    def on_signal(number: int) -> None:
        heard.append(number)
        if len(heard) == 1:
            terminal.say("stopping; once more stops at once", "yellow")
            stop()
        else:
            terminal.pause()
            _stop_at_once()

    # What is ignored stays so: `nohup` and shells without job control mean it.
    heeded = [number for number in _STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)


def _stop_at_once() -> None:
    """End every process that this one has started, then this one."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
    os._exit(EXIT_INTERRUPTED)


async def _ask_on_terminal(question: HumanQuestion, terminal: RunTerminal) -> str:
    """Ask, and wait for one line without blocking the run's own clockwork.

    The end of input (Ctrl-D) is an empty answer.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    terminal.pause()
    terminal.say(question.question, "bold")
    if question.reason:
        terminal.say(question.reason)
    terminal.console.print("[yes to go on, anything else stops] ", end="")

    def on_input() -> None:
        if not answer.done():
            answer.set_result(sys.stdin.readline().strip())

    loop.add_reader(sys.stdin.fileno(), on_input)
    try:
        return await answer
    finally:
        loop.remove_reader(sys.stdin.fileno())
        terminal.resume()
