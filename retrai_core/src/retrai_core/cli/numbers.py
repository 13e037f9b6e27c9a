"""Numbers on the command line; a wrong one is told as a person would say it."""

from __future__ import annotations

import click


class Number(click.FloatRange):
    """A number within bounds: `'abc' is not a valid number`."""

    name = "number"


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"
