"""Numbers on the command line, with error messages for people."""

from __future__ import annotations

import click


class Number(click.FloatRange):
    """A number within bounds: `'abc' is not a valid number`."""

    name = "number"

    def _describe_range(self) -> str:
        return super()._describe_range() if _is_bounded(self) else ""


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"

    def _describe_range(self) -> str:
        return super()._describe_range() if _is_bounded(self) else ""


def _is_bounded(kind: click.IntRange | click.FloatRange) -> bool:
    """Of one that is not, click's help page would say `x<=None`."""
    return kind.min is not None or kind.max is not None
