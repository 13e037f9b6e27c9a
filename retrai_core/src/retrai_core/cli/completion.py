"""What a shell offers after TAB, from the manifests alone: no plugin is imported."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..errors import RetraiError
from ..plugins.catalog import Catalog

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "retrai"
VARIABLE = "_RETRAI_COMPLETE"


def complete_goal(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The installed goals whose name begins so."""
    return _beginning({record.name for record in _catalog().records("goal")}, incomplete)


def complete_model(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """What the providers' patterns say: a whole name, or a prefix to go on from."""
    patterns = {p for record in _catalog().records("llm") for p in record.model_patterns}
    return _beginning({pattern.removesuffix("*") for pattern in patterns} - {""}, incomplete)


def complete_option(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The options of the goal that stands on the command line, each with its `=`."""
    goal: str | None = ctx.params.get("goal")
    found = () if goal is None else _catalog().matching(goal, "goal")
    return _beginning({f"{name}=" for record in found for name in record.options}, incomplete)


def complete_plugin(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The plugins of every kind, or of the one that `--kind` names."""
    records = _catalog().records(ctx.params.get("kind"))
    return _beginning({record.name for record in records}, incomplete)


def complete_switch(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """What can be switched off: plugins and distributions; for `enable`, what is off."""
    records = _catalog().records()
    if ctx.info_name == "enable":
        records = [record for record in records if record.status == "blocked"]
    names = {record.name for record in records} | {record.dist for record in records}
    return _beginning(names, incomplete)


def complete_distribution(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The installed distributions that offer plugins."""
    return _beginning({record.dist for record in _catalog().records()}, incomplete)


def _catalog() -> Catalog:
    try:
        return Catalog.configured()
    except RetraiError:  # a broken configuration is told by the command, not by TAB
        return Catalog.scan()


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete retrai's commands with TAB.

    \b
    bash:  eval "$(retrai completion bash)"        in ~/.bashrc
    zsh:   eval "$(retrai completion zsh)"         in ~/.zshrc, after compinit
    fish:  retrai completion fish | source         in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from .main import make_group

    made = get_completion_class(shell)
    if made is None:  # another click than the one this was written for
        raise click.UsageError(f"this click cannot complete for {shell}")
    click.echo(made(make_group(), {}, PROGRAM, VARIABLE).source())
