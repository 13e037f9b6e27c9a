"""Turns every failure of a command into one line for people and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from ..errors import RetraiError
from .output import echo

EXIT_ERROR = 70
EXIT_INTERRUPTED = 130
DEBUG_VARIABLE = "RETRAI_DEBUG"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
# What a group without a command raises; click 8.1 shows its help page and raises nothing.
_HELP_PAGE: tuple[type[click.UsageError], ...] = tuple(
    kind for kind in [getattr(click.exceptions, "NoArgsIsHelpError", None)] if kind is not None
)


def explain_failure(error: BaseException) -> int:
    """Say on standard error what went wrong; the exit code.

    `RETRAI_DEBUG=1` prints the traceback too.
    """
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if os.environ.get(DEBUG_VARIABLE) and not isinstance(error, click.UsageError):
        _say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, RetraiError):
        _say(f"error: {error.message}")
        if error.hint:
            _say(f"hint: {error.hint}")
        return error.exit_code
    if isinstance(error, click.ClickException):
        return _explain_click(error)
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        _say("interrupted")
        return EXIT_INTERRUPTED
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        if error.filename is None:
            _give_up_output()
        what = error.filename or "the output"
        _say(f"error: {what} cannot be written: {error.strerror} (make room, and try again)")
        return EXIT_ERROR
    _say(f"error: {type(error).__name__}: {_first_line(error)} ({_keep_traceback(error)})")
    return EXIT_ERROR


def _explain_click(error: click.ClickException) -> int:
    if isinstance(error, _HELP_PAGE):
        _say(error.format_message())
        return error.exit_code
    message = error.format_message().rstrip(".")
    _say(f"error: {message[:1].lower()}{message[1:]}")
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "retrai"
        _say(f"hint: `{path} --help` shows what it takes")
    return error.exit_code


def _keep_traceback(error: BaseException) -> str:
    """Write the traceback to the state folder and say where; or say that it could not be kept."""
    try:
        from ..storage.state_folder import state_dir

        path = Path(state_dir()) / "last-error.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except (OSError, ImportError):
        return f"{DEBUG_VARIABLE}=1 shows the traceback"
    return f"this is a bug in retrai or a plugin; the traceback is in {path}"


def _give_up_output() -> None:
    """Drop what waits to be written: Python tries it once more at its end, and fails with 120."""
    with suppress(OSError, ValueError):  # a stream of somebody else's, without a descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or "no message"


def _say(line: str) -> None:
    echo(line, err=True)
