"""Asks a person on the terminal while a run waits."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from ..contracts.question import ABORT, Question
from ..errors import TrustRequired, UsageError
from .output import echo
from .render.terminal import RunTerminal


def require_someone_to_ask() -> None:
    """Refuse a run that asks a person where nobody could answer.

    Raises:
        UsageError: standard input is no terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "asking before each iteration needs a terminal, and standard input is none",
            hint="`--no-hitl` asks nothing, or start it from a terminal",
        )


def somebody_watches() -> bool:
    """Whether a person sees what a run says: it goes to a terminal that is not a CI's."""
    streams = (sys.stdout, sys.stderr)
    return not os.environ.get("CI") and any(stream and stream.isatty() for stream in streams)


def agrees(error: TrustRequired) -> bool:
    """Show what a project would run and ask once; False where nobody can be asked."""
    if not sys.stdin.isatty():
        return False
    shown, _, _ = error.message.rpartition("\n")
    # On standard error: with --json, standard output is the record's alone.
    echo(shown, err=True)
    return click.confirm("Run it, now and until one of these changes?", err=True)


async def ask_on_terminal(question: Question, terminal: RunTerminal) -> str:
    """Ask, and wait for a line that is an answer without blocking the run's own clockwork.

    The end of input (Ctrl-D) ends the run, and so does a terminal that is gone.
    """
    terminal.pause()
    terminal.say(question.text, "bold")
    if reason := str(question.data.get("reason", "")):
        terminal.say(reason)
    choices = ", ".join(
        [*(f"{c.id} ({c.label})" for c in question.choices if c.id != ABORT), ABORT]
    )
    asked = "your answer" if not question.choices else f"yes, no, or one of {choices}"
    try:
        while True:
            terminal.prompt(f"[{asked}] ")
            line = await _next_line()
            terminal.has_open_line = not line  # Enter has ended it; Ctrl-D has not
            if not line:
                return ABORT
            answer = line.strip()
            try:
                question.accept(answer)
            except UsageError as error:
                terminal.say(error.message)
                continue
            return answer
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
