"""TAB completion, from the manifests alone: no plugin is imported."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..config.files import named_goals, read_plugin_settings
from ..errors import UsageError
from ..plugins.kinds import Kind
from .lazy_group import installed

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "retrai"
VARIABLE = "_RETRAI_COMPLETE"
_BASH_OFFERS = "COMPREPLY+=($value)"
_BASH_GOES_ON = "[[ $value == *[:=] ]] && compopt -o nospace 2>/dev/null"
"""No space behind `replay:` or `targets=`: the rest of the word comes right there."""


def complete_goal(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The installed goals and the project's own checks whose name begins so."""
    return _beginning([*_names(ctx, "goal"), *_goals_of_files(ctx)], incomplete)


def complete_model(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """What the providers' patterns say: a whole name, or a prefix to go on from."""
    providers = [record for record in installed(ctx).records("llm") if not record.is_disabled]
    patterns = {pattern for record in providers for pattern in record.model_patterns}
    return _beginning({pattern.removesuffix("*") for pattern in patterns} - {""}, incomplete)


def complete_option(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The options of the goal that stands on the command line, each with its `=`."""
    goal: str | None = ctx.params.get("goal")
    plugin = goal and _goals_of_files(ctx).get(goal, goal)
    found = installed(ctx).matching(plugin, "goal") if plugin else []
    return _beginning({f"{name}=" for record in found for name in record.options}, incomplete)


def complete_tools(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The installed tools, behind the ones that stand before the last comma."""
    before, comma, last = incomplete.rpartition(",")
    sign = last[:1] if last[:1] in ("+", "-") else ""
    found = _beginning(_names(ctx, "tool"), last.removeprefix(sign))
    return [f"{before}{comma}{sign}{name}" for name in found]


def complete_plugin(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The plugins of every kind, or of the one that `--kind` names."""
    return _beginning(_names(ctx, ctx.params.get("kind")), incomplete)


def complete_switch(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """What can be switched off: plugins and distributions; for `enable`, what is off."""
    if ctx.info_name != "enable":
        return _beginning([word for names in installed(ctx).names() for word in names], incomplete)
    try:
        return _beginning(read_plugin_settings().disabled, incomplete)
    except UsageError:  # the command says it, TAB does not
        return []


def _names(ctx: click.Context, kind: Kind | None) -> list[str]:
    return [name for name, _ in installed(ctx).names(kind)]


def _goals_of_files(ctx: click.Context) -> dict[str, str]:
    """The installed goal by the name of each entry below `goals:` in the configuration files."""
    try:
        return named_goals(ctx.params.get("project") or ".")
    except UsageError:  # the command says it, TAB does not
        return {}


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the TAB completion script for SHELL.

    \b
    bash:  eval "$(retrai completion bash)"        in ~/.bashrc
    zsh:   eval "$(retrai completion zsh)"         in ~/.zshrc, after compinit
    fish:  retrai completion fish | source         in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from .main import make_group
    from .output import echo  # TAB prints without it

    made = get_completion_class(shell)
    if made is None:  # another click than the one this was written for
        raise click.UsageError(f"this click cannot complete for {shell}")
    script = made(make_group(), {}, PROGRAM, VARIABLE).source()
    echo(script.replace(_BASH_OFFERS, f"{_BASH_OFFERS}\n{_BASH_GOES_ON}"))
