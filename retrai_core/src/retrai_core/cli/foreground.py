"""Follows one run in the foreground: shows it, asks for answers, stops it on Ctrl-C."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ..contracts.question import Question
from ..contracts.record import RunRecord
from ..events import AgentEvent
from ..runs.event_loop import run_to_end
from ..runs.handle import Run
from ..runs.manager import RunManager
from .asking import ask_on_terminal
from .output import echo
from .render.summary import head_line, summary_lines
from .render.terminal import RunTerminal, make_console
from .stop_signals import stop_signals

_DRAIN_TIMEOUT_S = 10.0

Begin = Callable[[RunManager], Awaitable[Run]]
"""Submits, resumes or finds the run that is to be followed."""


def work_in_foreground(begin: Begin, *, as_json: bool) -> RunRecord:
    """Work on a run in this process, show it, and show how it ended.

    Args:
        begin: submits it, or resumes it.
        as_json: print the record alone on standard output, the steps on standard error.

    Raises:
        UsageError: nothing can be run like that; nothing has been started.
    """
    terminal = RunTerminal(make_console(stderr=as_json))
    try:
        record = run_to_end(_work(begin, terminal))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # stopped before it had quite begun
    if as_json:
        echo(record.model_dump_json(indent=2))
    else:
        terminal.console.print()
        for line in summary_lines(record):
            terminal.console.print(line)
    return record


async def _work(begin: Begin, terminal: RunTerminal) -> RunRecord:
    async with RunManager(engine="inline", tell=lambda line: echo(line, err=True)) as manager:
        run = await begin(manager)

        def stop() -> None:
            stopping.append(asyncio.ensure_future(run.cancel("interrupted")))

        stopping: list[asyncio.Future[bool]] = []
        with terminal, stop_signals(stop, terminal, run.id):
            # Where no terminal can be asked on, `retrai runs answer` answers.
            answers = sys.stdin.isatty()
            shown = asyncio.create_task(show_events(run, terminal, answers=answers))
            try:
                return await run.result()
            finally:
                # What the run has said last is shown, unless there is nothing left of it.
                await asyncio.wait({shown}, timeout=_DRAIN_TIMEOUT_S)
                shown.cancel()
                with suppress(Exception, asyncio.CancelledError):
                    await shown


async def show_events(run: Run, terminal: RunTerminal, *, answers: bool, after: int = 0) -> None:
    """Print the run's events until it ends.

    Args:
        run: the run.
        terminal: where they are printed.
        answers: ask on the terminal what the run asks.
        after: the number of the last event that is not printed.
    """
    begun = False
    asking: asyncio.Task[None] | None = None
    try:
        async for event in run.events(after):
            if not begun:  # a run that is refused, since another works there, never begins
                terminal.console.print(head_line(await run.record()))
                begun = True
            terminal.hear(event)
            if event.kind == "human_check_required":
                question = Question.model_validate(event.payload["question"])
                if not answers:
                    if question.id in {each.id for each in await run.questions()}:
                        terminal.say(f"{question.text} (`retrai runs answer {run.id}`)")
                    continue
                asking = asyncio.create_task(_answer(run, question, terminal, asking))
            elif asking is not None and _ends(event, asking):
                asking.cancel()
    finally:
        if asking is not None:
            asking.cancel()


def _ends(event: AgentEvent, asking: asyncio.Task[None]) -> bool:
    """Whether nobody waits any more for what is asked on the terminal."""
    answered = event.kind == "human_check_response"
    return event.kind == "run_end" or (
        answered and event.payload.get("question_id") == asking.get_name()
    )


async def _answer(
    run: Run, question: Question, terminal: RunTerminal, earlier: asyncio.Task[None] | None
) -> None:
    """Ask on the terminal, one question at a time; the first answer counts, also another's."""
    task = asyncio.current_task()
    if task is not None:
        task.set_name(question.id)
    if earlier is not None:
        await asyncio.wait({earlier})
    open_ones = {each.id for each in await run.questions()}
    if question.id in open_ones:
        await run.answer(question.id, await ask_on_terminal(question, terminal))
