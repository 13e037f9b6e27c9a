"""`retrai tui`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from retrai_core import RunManager, RunNotFoundError, UsageError, echo

if TYPE_CHECKING:
    from .app import Start


@click.command()
@click.argument("target", required=False, metavar="[GOAL | RUN]")
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
def tui(target: str | None, project: Path) -> int:
    """Start, watch and steer runs full-screen in a terminal.

    With GOAL, opens the form of a new run with that goal; with RUN, that run, whichever process
    executes it. Without either: the list of runs, or, in a project without settings, the form.

    Runs that are started here are processes of their own, and go on when this ends.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "`retrai tui` needs a terminal, and standard input or output is none",
            hint="`retrai run` and `retrai runs follow RUN` work without one",
        )
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        raise UsageError(
            "`retrai tui` needs a terminal that can move its cursor, and TERM says dumb or nothing",
            hint="`retrai run` and `retrai runs follow RUN` print plain lines",
        )
    if not project.is_dir():
        raise UsageError(f"no such folder: {project}", hint="give the project's folder with -C DIR")
    return asyncio.run(_show(target, project.resolve()))


async def _show(target: str | None, project: Path) -> int:
    from .app import RetraiApp, Start
    from .messages import Messages

    messages = Messages()
    async with RunManager(engine="process", tell=messages.add) as manager:
        await manager.list(
            limit=1
        )  # a store that cannot be read says so before the screen is taken
        start = Start()
        if target is not None:
            start = await _find(manager, project, target)
        app = RetraiApp(manager, project, messages, start)
        await app.run_until_quit()
        for line in await app.left_behind():
            echo(line)
        return app.return_code or 0


async def _find(manager: RunManager, project: Path, target: str) -> Start:
    """What is meant: a goal, or a run."""
    from .app import Start

    goals = {plugin.name for plugin in await manager.goals()}
    settings = {row.name: row.value for row in await manager.settings(project)}
    own = cast("Mapping[str, Any]", settings.get("goals") or {})
    if target in goals or target in own:
        return Start(goal=target)
    try:
        return Start(run=await manager.get(target))
    except RunNotFoundError as error:
        raise UsageError(
            f"there is no goal {target!r}, and no run: {error.message}",
            hint="`retrai goals list` and `retrai runs list` show what there is",
        ) from error
