"""`retrai watch`."""

from __future__ import annotations

import math
from pathlib import Path

import click


@click.command()
@click.argument("goal", required=False)
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
@click.option("--fix", is_flag=True, help="Start a run when the check fails.")
@click.option("-m", "--model", help="The model of these runs.")
@click.option(
    "--debounce",
    "debounce_s",
    type=click.FloatRange(min=0.01, max=3600),
    default=0.3,
    show_default=True,
    metavar="S",
    help="Check once nothing has changed for S seconds.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Approve the settings in .retrai.yml that need consent, until they change.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one line for each check and run."
)
def watch(
    goal: str | None,
    project: Path,
    fix: bool,
    model: str | None,
    debounce_s: float,
    trust: bool,
    as_json: bool,
) -> int:
    """Check GOAL whenever files of the project change, and say what broke.

    Without GOAL, it is detected from the project's files. Ignored files and caches do not count,
    nor does what a run of --fix writes. Ctrl-C ends it, and its run as `interrupted`.
    """
    if math.isnan(debounce_s):  # it passes every comparison of a range
        raise click.BadParameter("nan is not a number of seconds", param_hint="--debounce")
    from .output import JsonLines, TextLines
    from .watching import WatchOptions, watch_until_signal

    options = WatchOptions(project, goal, fix, model, debounce_s, trust)
    return watch_until_signal(options, JsonLines() if as_json else TextLines())
