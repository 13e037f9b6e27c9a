"""The top command: it lists its subcommands without importing any, and loads the one asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from ..errors import PluginError, UsageError
from .help_width import help_width

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyCommand(NamedTuple):
    """Where a command is, and the line that `--help` shows for it.

    Attributes:
        module: relative to this package, with its leading dot.
        attribute: the `click.Command` in it.
        summary: one short line.
    """

    module: str
    attribute: str
    summary: str


class LazyGroup(click.Group):
    """A group whose own commands are a static table and whose others are installed frontends.

    Args:
        table: the built-in commands by name.
        frontends: gives summary by name of the installed frontends, importing none; called only
            for the help page and for names that the table does not have.
        load_frontend: gives the command of one frontend.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, LazyCommand],
        frontends: Callable[[], Mapping[str, str]],
        load_frontend: Callable[[str], click.Command],
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
        return [*self._table, *sorted(set(self._frontends()) - set(self._table))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None when there is no such name."""
        if cmd_name in self._table:
            entry = self._table[cmd_name]
            module = import_module(entry.module, __package__)
            return cast("click.Command", getattr(module, entry.attribute))
        if cmd_name in self._frontends():
            return self._load_frontend(cmd_name)
        return None

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
        summaries = {**self._frontends(), **summaries}
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
        installed = {n: s for n, s in self._frontends().items() if n not in self._table}
        if installed:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(sorted(installed.items()))


def frontend_summaries() -> dict[str, str]:
    """Summary by name of the installed frontends; imports no plugin."""
    from ..plugins.summaries import plugin_summaries

    return plugin_summaries("frontend")


def distribution_with(frontend: str) -> str:
    """The distribution, not installed, that would bring a frontend; empty when none is known."""
    from ..plugins.catalog import Catalog

    return Catalog.scan().brings(frontend, "frontend")


def load_frontend(name: str) -> click.Command:
    """The command of an installed frontend.

    Raises:
        PluginError: the frontend is broken, or what it gives is no command.
    """
    from ..contracts.frontend import Frontend
    from ..plugin_answers import asked
    from ..plugins.catalog import Catalog

    catalog = Catalog.configured()
    record = catalog.find("frontend", name)
    loaded = catalog.load(record)
    if not (isinstance(loaded, type) and issubclass(loaded, Frontend)):
        raise PluginError(f"frontend {name} of {record.dist} is not a Frontend class: {loaded!r}")
    return asked(record, lambda: loaded().command(), click.Command)
