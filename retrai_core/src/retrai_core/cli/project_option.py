"""The flag that selects the project of a command."""

from __future__ import annotations

import os
from typing import Any

import click

from .aliases import AliasedOption


class _Folder(click.Path):
    """A folder as a `Path`; TAB completion has the text, and is spared the import."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        if ctx is not None and ctx.resilient_parsing:
            return text
        from pathlib import Path

        return Path(os.fsdecode(text))


project_option = click.option(
    "-C",
    "project",
    cls=AliasedOption,
    aliases=["--cwd"],
    type=_Folder(),
    default=".",
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
"""Adds `-C DIR` to a command, which gets it as `project`."""
