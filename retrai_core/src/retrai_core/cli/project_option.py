"""The flag that selects the project of a command."""

from __future__ import annotations

from pathlib import Path

import click

project_option = click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
"""Adds `-C DIR` to a command, which gets it as `project`."""
