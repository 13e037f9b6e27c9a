"""The flags that limit what a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..config.files import NO_LIMIT
from .numbers import Number, WholeNumber

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # of click 8.1 it takes no type


class _Limit(_Type):
    """Leaves `none` as it is, before the type that it is mixed into reads a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See the base class."""
        return value if value == NO_LIMIT else super().convert(value, param, ctx)


class _Number(_Limit, Number):
    """A number or `none`."""


class _Whole(_Limit, WholeNumber):
    """A whole number or `none`."""


def budget_options(command: F) -> F:
    """Add `--max-cost`, `--max-tokens` and `--max-time` to a command.

    It gets them as `max_cost_usd`, `max_tokens` and `max_time_s`; None where one is not given, and
    `none` where the limit is lifted.
    """
    for option in (
        click.option(
            "--max-time",
            "max_time_s",
            type=_Number(min=0),
            metavar="SECONDS",
            help="Maximum time in seconds; the run can be resumed.",
        ),
        click.option(
            "--max-tokens",
            type=_Whole(min=0),
            metavar="N",
            help="Maximum tokens for model calls.",
        ),
        click.option(
            "--max-cost",
            "max_cost_usd",
            type=_Number(min=0),
            metavar="DOLLARS",
            help="Maximum cost in US dollars; none removes a limit.",
        ),
    ):
        command = option(command)
    return command
