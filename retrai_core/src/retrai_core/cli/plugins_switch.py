"""`retrai plugins disable` and `enable`: a file that retrai owns lists what is disabled."""

from __future__ import annotations

import os

import click

from ..config.files import read_plugin_settings, read_switched_off, switched_off_path
from ..errors import UsageError
from ..plugins.catalog import Catalog
from .completion import complete_switch
from .output import echo

_NAME = click.argument("name", shell_complete=complete_switch)
_USER = click.option("--user", "user", is_flag=True, help="For all projects.")
_PROJECT = click.option(
    "--project", "project", is_flag=True, help="For this project, and only for you."
)


@click.command()
@_NAME
@_USER
@_PROJECT
def disable(name: str, user: bool, project: bool) -> None:
    """Disable the plugin or distribution NAME (or NAME@DIST).

    Without --project, applies to all projects. Nothing is uninstalled or imported. To disable a
    plugin for everybody on a project, use `disabled_plugins` in .retrai.yml.
    """
    _require_known(name)
    switched_off = read_switched_off()
    for key, where in _places(user or not project, project):
        names = switched_off.setdefault(key, [])
        if name in names:
            echo(f"{name} is switched off {where} already")
        else:
            names.append(name)
            _write(switched_off)
            echo(f"{name} is switched off {where}")


@click.command()
@_NAME
@_USER
@_PROJECT
def enable(name: str, user: bool, project: bool) -> None:
    """Enable the disabled plugin or distribution NAME.

    Without --user or --project, applies to both.
    """
    both = not user and not project
    switched_off = read_switched_off()
    changed = False
    for key, where in _places(user or both, project or both):
        if name in switched_off.get(key, ()):
            switched_off[key].remove(name)
            _write(switched_off)
            echo(f"{name} is switched on {where}")
            changed = True
    still = read_plugin_settings().disabled.get(name)
    if not changed and not still:
        _require_known(name)
        echo(f"{name} is not switched off there")
    if still == switched_off_path():
        echo(f"it is still switched off: `retrai plugins enable {name}`")
    elif still:
        echo(f"it is still switched off in {still}: take it out of `disabled_plugins` there")
    elif name in os.environ.get("RETRAI_DISABLE_PLUGINS", "").split(","):
        echo("it is still switched off by RETRAI_DISABLE_PLUGINS")


def _require_known(name: str) -> None:
    catalog = Catalog.configured()
    if not catalog.of_distribution(name) and not catalog.matching(name):
        raise catalog.unknown(name)


def _places(user: bool, project: bool) -> list[tuple[str, str]]:
    """The keys in the file, and what they mean for people."""
    here = os.path.realpath(".")
    places = [("", "for every project")] if user else []
    return [*places, (here, f"in {here}")] if project else places


def _write(switched_off: dict[str, list[str]]) -> None:
    """Replace the file at once, so that no reader sees a part of it."""
    import json  # `plugins list` imports this module too
    from pathlib import Path

    path = Path(switched_off_path())
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    kept = {key: names for key, names in sorted(switched_off.items()) if names}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
