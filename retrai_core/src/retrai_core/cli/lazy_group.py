"""Command groups that list their commands without importing any, and run the one asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from ..errors import PluginError, UsageError
from ..plugins.catalog import Catalog

_CATALOG, _COMMANDS = "retrai.catalog", "retrai.commands."
"""What is kept in click's context for the rest of a command line."""


class LazyCommand(click.Command):
    """Stands for a command in lists; the command itself is imported when it is run or completed.

    Args:
        name: what is typed for it.
        summary: its line in a list.
        load: imports it.
        is_plugin: a plugin brings it.
        hidden: no list shows it.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        load: Callable[[], click.Command],
        *,
        is_plugin: bool = False,
        hidden: bool = False,
    ) -> None:
        super().__init__(name, short_help=summary, hidden=hidden)
        self.load = load
        self.is_plugin = is_plugin

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """The context of the command itself: click goes on with that."""
        return self.load().make_context(info_name, args, parent, **extra)


class PluginGroup(click.Group):
    """A group of retrai's own, with the commands of plugins beside its own.

    Plugins are looked for only if a list of the commands is shown, or no own command has the name
    that was typed.

    Args:
        args: as of click's group.
        parent: what a frontend names as its `parent` to be a command here; the group's name when
            left out, empty for the top group.
        attributes: as of click's group.
    """

    def __init__(self, *args: Any, parent: str | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.parent: str = (self.name or "") if parent is None else parent

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name: its own as they were added, then those of plugins, sorted."""
        shown = [name for name, command in self.commands.items() if not command.hidden]
        return [*shown, *self._of_plugins(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command; None when there is no such name."""
        return self.commands.get(cmd_name) or self._of_plugins(ctx).get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown name is answered with the nearest known one."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            raise self._unknown(ctx, args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List its own commands, and below them those of plugins."""
        own = {name: command for name, command in self.commands.items() if not command.hidden}
        every = {**own, **self._of_plugins(ctx)}
        limit = formatter.width - 6 - max(map(len, every))
        for title, of_plugins in (("Commands", False), ("Commands of plugins", True)):
            rows = [
                (name, command.get_short_help_str(limit))
                for name, command in every.items()
                if getattr(command, "is_plugin", False) == of_plugins
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _of_plugins(self, ctx: click.Context) -> dict[str, LazyCommand]:
        key = f"{_COMMANDS}{self.parent}"
        if key not in ctx.meta:
            found = plugin_commands(installed(ctx), self.parent)
            ctx.meta[key] = {name: found[name] for name in found if name not in self.commands}
        return ctx.meta[key]

    def _unknown(self, ctx: click.Context, name: str) -> Exception:
        typed = f"{self.parent} {name}".lstrip()
        if brings := installed(ctx).brings(typed, "frontend"):
            return UsageError(
                f"no such command: {typed}; the plugin that has it is not installed",
                hint=f"`pip install {brings}` brings it",
            )
        import difflib

        close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
        guess = f" (did you mean {close[0]}?)" if close else ""
        return click.UsageError(f"no such command: {typed}{guess}", ctx)


def installed(ctx: click.Context) -> Catalog:
    """What is installed, scanned once for a command line; for lists, help pages and TAB."""
    if _CATALOG not in ctx.meta:
        try:
            ctx.meta[_CATALOG] = Catalog.configured()
        except UsageError:  # the command says what is wrong; a help page and TAB do without it
            ctx.meta[_CATALOG] = Catalog.scan()
    return ctx.meta[_CATALOG]


def plugin_commands(catalog: Catalog, parent: str) -> dict[str, LazyCommand]:
    """The frontends that are a part of the command `parent`, by name; imports none."""
    return {
        record.name: LazyCommand(
            record.name,
            record.summary or record.error,
            partial(_load, catalog, record.name, parent),
            is_plugin=True,
        )
        for record in catalog.records("frontend")
        if record.parent == parent and not record.is_disabled
    }


def _load(catalog: Catalog, name: str, parent: str) -> click.Command:
    """The command of an installed frontend.

    Raises:
        PluginError: the frontend is broken, or what it gives is no command.
    """
    from ..plugins.answers import ask_plugin

    record = catalog.find("frontend", name, parent)
    frontend: Any = catalog.load(record)
    if frontend.parent != parent:
        raise PluginError(
            f"frontend {name} of {record.dist} has parent = {frontend.parent!r}, which its "
            "manifest does not say",
            hint=f"`retrai plugins manifest {record.dist}` writes it",
        )
    command = ask_plugin(record, lambda: frontend().command(), click.Command)
    if isinstance(command, click.Group):
        for part, lazy in plugin_commands(catalog, name).items():
            command.commands.setdefault(part, lazy)
    return command
