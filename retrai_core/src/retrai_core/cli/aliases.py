"""Other names of flags and commands, which neither help pages nor TAB completion show.

They are those of the original retrAI, so that its users' command lines go on working.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class AliasedOption(click.Option):
    """An option with names that are accepted and not shown.

    Args:
        param_decls: as of click's option.
        aliases: the names that are not shown.
        attributes: as of click's option.

    Example:
        >>> @click.command()
        ... @click.option("-C", "place", cls=AliasedOption, aliases=["--cwd"])
        ... def where(place): print(place)
        >>> where.main(["--cwd", "here"], standalone_mode=False)
        here
    """

    def __init__(
        self, param_decls: Sequence[str], *, aliases: Sequence[str] = (), **attributes: Any
    ) -> None:
        super().__init__(param_decls, **attributes)
        self.aliases = list(aliases)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know every name, and nobody else."""
        shown = self.opts
        self.opts = [*shown, *self.aliases]
        super().add_to_parser(parser, ctx)
        self.opts = shown


def _refuse_key(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            "--api-key: a key on the command line can be read by every program of this machine, "
            "and stays in the shell's history; set it in the environment instead: "
            "`export LLM_API_KEY=...`, or the provider's own variable (ANTHROPIC_API_KEY, ...)"
        )


no_api_key = click.option(
    "--api-key", metavar="KEY", hidden=True, expose_value=False, callback=_refuse_key
)
"""Refuses `--api-key KEY`, and says where a key belongs."""
