"""Asks a person on the terminal while a run waits."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

import click

from ..errors import UsageError
from ..run_manager import HumanQuestion
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


def ask_for_trust() -> Callable[[str], bool] | None:
    """Shows what a project would run and asks once; None where nobody can be asked."""
    if not sys.stdin.isatty():
        return None

    def ask(shown: str) -> bool:
        # On standard error: with --json, standard output is the record's alone.
        click.echo(shown, err=True)
        return click.confirm("Run it, now and until one of these changes?", err=True)

    return ask


async def ask_on_terminal(question: HumanQuestion, terminal: RunTerminal) -> str:
    """Ask, and wait for one line without blocking the run's own clockwork.

    The end of input (Ctrl-D) is an empty answer, and so is a terminal that is gone.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    terminal.pause()
    terminal.say(question.question, "bold")
    if question.reason:
        terminal.say(question.reason)
    terminal.console.print("[yes to go on, anything else stops] ", end="")

    def on_input() -> None:
        if answer.done():
            return
        try:
            # One line a call, as the terminal gives them: what was typed ahead waits in it.
            answer.set_result(sys.stdin.readline().strip())
        except (OSError, UnicodeDecodeError):  # the terminal is gone, or what came is no text
            answer.set_result("")

    loop.add_reader(sys.stdin.fileno(), on_input)
    try:
        return await answer
    finally:
        loop.remove_reader(sys.stdin.fileno())
        terminal.resume()
