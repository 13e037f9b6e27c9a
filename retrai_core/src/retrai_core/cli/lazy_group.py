"""The top command: it lists its subcommands without importing any, and loads the one asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from ..errors import PluginError, UsageError
from .help_width import help_width

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyCommand(NamedTuple):
    """The location of a command, and its line in `--help`.

    Attributes:
        module: relative to this package, with its leading dot.
        attribute: the `click.Command` in it.
        summary: one short line.
    """

    module: str
    attribute: str
    summary: str


Summaries = Callable[[str], Mapping[str, str]]
"""Summary by name of the installed frontends that are a part of a command, importing none."""
Load = Callable[[str, str], click.Command]
"""The command of one frontend: its name, and the command that it is a part of."""


class LazyGroup(click.Group):
    """A command group: a static table of built-in commands, and the installed frontends.

    Args:
        table: the built-in commands by name.
        frontends: called only for a help page and for names that a group does not have; a command
            of its own is a part of "".
        load_frontend: gives the command of one frontend.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, LazyCommand],
        frontends: Summaries,
        load_frontend: Load,
        *,
        params: list[click.Parameter],
        help_text: str,
    ) -> None:
        super().__init__(
            name,
            params=params,
            help=help_text,
            # Both hold for every command below it.
            context_settings={
                "terminal_width": help_width(),
                "help_option_names": ["-h", "--help"],
            },
        )
        self._table = table
        self._frontends = frontends
        self._load_frontend = load_frontend

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name, in the order of the table; frontends after it, sorted."""
        return [*self._table, *sorted(set(self._frontends("")) - set(self._table))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None when there is no such name."""
        if cmd_name in self._table:
            entry = self._table[cmd_name]
            module = import_module(entry.module, __package__)
            command = cast("click.Command", getattr(module, entry.attribute))
        elif cmd_name in self._frontends(""):
            command = self._load_frontend(cmd_name, "")
        else:
            return None
        if isinstance(command, click.Group):
            return with_subcommands(command, cmd_name, self._frontends, self._load_frontend)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown name is answered with the nearest known one."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None:
            import difflib

            if brings := distribution_with(name):
                raise UsageError(
                    f"no such command: {name}; the plugin that has it is not installed",
                    hint=f"`pip install {brings}` brings it",
                )
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            guess = f" (did you mean {close[0]}?)" if close else ""
            raise click.UsageError(f"no such command: {name}{guess}", ctx)
        return name, command, args[1:]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete from the table and the manifests; only the chosen command is ever imported."""
        from click.shell_completion import CompletionItem

        summaries = {name: entry.summary for name, entry in self._table.items()}
        summaries = {**self._frontends(""), **summaries}
        items: list[CompletionItem[Any]] = [
            CompletionItem(name, help=summaries[name])
            for name in sorted(summaries)
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from the table and the manifests alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self._table.items()])
        installed = {n: s for n, s in self._frontends("").items() if n not in self._table}
        if installed:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(sorted(installed.items()))


def with_subcommands(
    group: click.Group, name: str, frontends: Summaries, load_frontend: Load
) -> click.Group:
    """The group with the subcommands of plugins beside its own; none is imported until it is run.

    It is a copy with a few methods of its own, so that it stays of whatever class it is.

    Args:
        group: as it was made.
        name: what is typed for it.
        frontends: see `LazyGroup`.
        load_frontend: see `LazyGroup`.
    """
    extended = copy(group)

    def added(ctx: click.Context) -> dict[str, str]:
        own = group.list_commands(ctx)
        return {each: text for each, text in frontends(name).items() if each not in own}

    def list_commands(ctx: click.Context) -> list[str]:
        return [*group.list_commands(ctx), *sorted(added(ctx))]

    def get_command(ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = group.get_command(ctx, cmd_name)
        if command is None and cmd_name in added(ctx):
            return load_frontend(cmd_name, name)
        return command

    def resolve_command(
        ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = get_command(ctx, args[0])
        if command is not None:
            return args[0], command, args[1:]
        if brings := distribution_with(f"{name} {args[0]}"):
            raise UsageError(
                f"no such command: {name} {args[0]}; the plugin that has it is not installed",
                hint=f"`pip install {brings}` brings it",
            )
        return group.resolve_command(ctx, args)

    def shell_complete(ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        from click.shell_completion import CompletionItem

        own = click.Context(group, parent=ctx.parent, info_name=ctx.info_name)
        found: list[CompletionItem[Any]] = [
            CompletionItem(each, help=text)
            for each, text in sorted(added(ctx).items())
            if each.startswith(incomplete)
        ]
        return [*group.shell_complete(own, incomplete), *found]

    def format_commands(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        group.format_commands(ctx, formatter)
        if installed := added(ctx):
            with formatter.section("Commands of plugins"):
                formatter.write_dl(sorted(installed.items()))

    for method in (list_commands, get_command, resolve_command, shell_complete, format_commands):
        setattr(extended, method.__name__, method)
    return extended


def frontend_summaries(parent: str) -> dict[str, str]:
    """Summary by name of the installed frontends that are a part of `parent`; imports no plugin."""
    from ..plugins.summaries import command_summaries

    return command_summaries(parent)


def distribution_with(command: str) -> str:
    """The distribution, not installed, that would bring a command; empty when none is known.

    A subcommand is named with what it is a part of: `runs export`.
    """
    from ..plugins.catalog import Catalog

    return Catalog.scan().brings(command, "frontend")


def load_frontend(name: str, parent: str = "") -> click.Command:
    """The command of an installed frontend.

    Raises:
        PluginError: the frontend is broken, or what it gives is no command.
    """
    from ..contracts.frontend import Frontend
    from ..plugins.answers import ask_plugin
    from ..plugins.catalog import Catalog

    catalog = Catalog.configured()
    record = catalog.find("frontend", name, parent)
    loaded = catalog.load(record)
    if not (isinstance(loaded, type) and issubclass(loaded, Frontend)):
        raise PluginError(f"frontend {name} of {record.dist} is not a Frontend class: {loaded!r}")
    if loaded.parent != parent:
        raise PluginError(
            f"frontend {name} of {record.dist} has parent = {loaded.parent!r}, which its manifest "
            "does not say",
            hint=f"`retrai plugins manifest {record.dist}` writes it",
        )
    return ask_plugin(record, lambda: loaded().command(), click.Command)
