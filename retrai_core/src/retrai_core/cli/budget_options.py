"""The flags that limit what a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def budget_options(command: F) -> F:
    """Add `--max-cost`, `--max-tokens` and `--max-time` to a command.

    It gets them as `max_cost_usd`, `max_tokens` and `max_time_s`; None where one is not given.
    """
    for option in (
        click.option(
            "--max-time",
            "max_time_s",
            type=click.FloatRange(min=0),
            metavar="SECONDS",
            help="Make no model call after so many seconds.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=0),
            metavar="N",
            help="Tokens that model calls may use.",
        ),
        click.option(
            "--max-cost",
            "max_cost_usd",
            type=click.FloatRange(min=0),
            metavar="DOLLARS",
            help="US dollars that model calls may cost.",
        ),
    ):
        command = option(command)
    return command
