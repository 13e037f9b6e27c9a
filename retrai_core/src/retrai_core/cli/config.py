"""`retrai config show`: every setting, its value, and where it comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import RetraiError
from .columns import aligned
from .project_option import project_option
from .render.words import one_line

if TYPE_CHECKING:
    from ..settings import Settings

_VALUE_WIDTH = 60


@click.group()
def config() -> None:
    """Show every setting and where it comes from."""


@config.command()
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(project: Path, as_json: bool) -> None:
    """Show each value and where it comes from.

    Sources, the later ones stronger: the user's config.yml, the project's .retrai.yml, the
    environment (RETRAI_MODEL and so on), flags.
    """
    from ..settings import load_settings  # TAB imports this module too
    from ..unheeded import misspelt

    settings = load_settings(project)
    rows = [_taken(settings) if row[0] == "model" else row for row in setting_rows(settings)]
    if as_json:
        click.echo(json.dumps({name: {"value": v, "from": o} for name, v, o in rows}, indent=2))
        return
    shown = [(name, _as_text(value), origin) for name, value, origin in rows]
    click.echo(aligned([("SETTING", "VALUE", "FROM"), *shown]))
    for line in misspelt(os.environ):
        click.echo(f"warning: {line}", err=True)


def _taken(settings: Settings) -> tuple[str, str, str]:
    """The model that a run would take here, and why."""
    from ..choosing import model_taken

    model, origin = settings.config.model_name, settings.origins["model_name"]
    if origin != "default":
        return "model", model, origin
    try:
        taken = model_taken(settings.config)
    except RetraiError:  # a run would say what is wrong; the settings are shown all the same
        return "model", model, origin
    why = origin if taken == model else f"default, since no key for {model} is set"
    return "model", taken, why


def setting_rows(settings: Settings) -> list[tuple[str, Any, str]]:
    """Name as `.retrai.yml` has it, value as JSON, origin; `run_id` is no setting of anyone's."""
    from ..run_config import RunConfig

    values = settings.config.model_dump(mode="json", exclude={"run_id"})
    origins = settings.origins
    rows = [
        (RunConfig.model_fields[key].alias or key, value, origins.get(key, "default"))
        for key, value in values.items()
        if key != "options"
    ]
    options: dict[str, Any] = values["options"]
    rows += [(key, value, origins[f"options.{key}"]) for key, value in options.items()]
    return rows


def _as_text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, _VALUE_WIDTH)
