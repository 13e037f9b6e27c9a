"""Asks a person on the terminal while a run waits."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

import click

from ..errors import UsageError
from ..loop.approval import is_approval, is_refusal
from ..run_manager import HumanQuestion
from .output import echo
from .render.terminal import RunTerminal


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


def somebody_watches() -> bool:
    """Whether a person sees what a run says: it goes to a terminal that is not a CI's."""
    streams = (sys.stdout, sys.stderr)
    return not os.environ.get("CI") and any(stream and stream.isatty() for stream in streams)


def ask_for_trust() -> Callable[[str], bool] | None:
    """Shows what a project would run and asks once; None where nobody can be asked."""
    if not sys.stdin.isatty():
        return None

    def ask(shown: str) -> bool:
        # On standard error: with --json, standard output is the record's alone.
        echo(shown, err=True)
        return click.confirm("Run it, now and until one of these changes?", err=True)

    return ask


async def ask_on_terminal(question: HumanQuestion, terminal: RunTerminal) -> str:
    """Ask, and wait for a line that says yes or no without blocking the run's own clockwork.

    The end of input (Ctrl-D) is an empty answer, and so is a terminal that is gone; both stop.
    """
    terminal.pause()
    terminal.say(question.question, "bold")
    if question.reason:
        terminal.say(question.reason)
    try:
        while True:
            terminal.console.print("[yes or no] ", end="", markup=False)
            line = await _next_line()
            answer = line.strip()
            if not line or is_approval(answer) or is_refusal(answer):
                return answer
            terminal.say(f"{answer!r} is neither yes nor no")
    finally:
        terminal.resume()


async def _next_line() -> str:
    """One line with its end, as the terminal gives them; what was typed ahead waits in it."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def on_input() -> None:
        if line.done():
            return
        try:
            line.set_result(sys.stdin.readline())
        except UnicodeDecodeError:  # a slip too
            line.set_result("\N{REPLACEMENT CHARACTER}\n")
        except OSError:  # the terminal is gone
            line.set_result("")

    loop.add_reader(sys.stdin.fileno(), on_input)
    try:
        return await line
    finally:
        loop.remove_reader(sys.stdin.fileno())
