"""The flags of `run` and `resume`: what a run may use, and whether it asks before it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .aliases import AliasedOption

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--max-cost",
        "max_cost_usd",
        metavar="DOLLARS",
        help="Maximum cost in US dollars; none removes a limit.",
    ),
    click.option("--max-tokens", metavar="N", help="Maximum tokens for model calls."),
    click.option(
        "--max-time",
        "max_time_s",
        metavar="SECONDS",
        help="Maximum time in seconds; the run can be resumed.",
    ),
)


max_iterations_option = click.option(
    "-n",
    "--max-iterations",
    cls=AliasedOption,
    aliases=["--max-iter"],
    type=int,
    metavar="N",
    help="Maximum iterations.",
)

hitl_option = click.option(
    "--hitl/--no-hitl", default=None, help="Ask before each new iteration, or do not."
)


def budget_options(command: F) -> F:
    """Add `--max-cost`, `--max-tokens` and `--max-time` to a command.

    It gets them as `max_cost_usd`, `max_tokens` and `max_time_s`: text, which the settings' model
    reads (`none` lifts a limit), and None where one is not given.
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
