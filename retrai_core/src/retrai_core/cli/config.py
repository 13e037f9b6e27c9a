"""`retrai config show`: every setting, its value, and where it comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..config.files import PROJECT_FILE
from ..errors import RetraiError
from ..plugins.catalog import Catalog
from .columns import aligned
from .lazy_group import PluginGroup
from .output import echo
from .project_option import project_option
from .render.words import one_line

if TYPE_CHECKING:
    from ..config.sources import Settings
    from ..runs.trust import Claims

_VALUE_WIDTH = 60


@click.group(cls=PluginGroup)
def config() -> None:
    """Show every setting and where it comes from."""


@config.command()
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(project: Path, as_json: bool) -> None:
    """Show each setting's value and origin, and whether you approved the project's own.

    Later sources override earlier ones: the user's config.yml, the project's .retrai.yml, the
    environment (RETRAI_MODEL and so on), flags.
    """
    from ..config.sources import (  # TAB imports this too
        load_settings,
        misspelt_variables,
        setting_rows,
    )
    from ..runs.own_options import with_own_names
    from ..runs.trust import claims_of, is_agreed

    given = load_settings(project)
    settings = with_own_names(given, Catalog.of(given))
    rows = [_taken(settings) if row[0] == "model" else row for row in setting_rows(settings)]
    claims = claims_of(settings)
    claimed = [name for name, _, _ in rows if _is_claimed(name, claims)]
    agreed = is_agreed(given)
    if as_json:
        data: dict[str, dict[str, Any]] = {n: {"value": v, "from": o} for n, v, o in rows}
        for name in claimed:
            data[name]["agreed"] = agreed
        echo(json.dumps(data, indent=2))
        _warn_of_options(given)
        return
    shown = [(name, _as_text(value), origin) for name, value, origin in rows]
    echo(aligned([("SETTING", "VALUE", "FROM"), *shown]))
    if claimed:
        said = "agreed to" if agreed else "not agreed to yet (`retrai run --trust` agrees)"
        echo(f"\n{', '.join(claimed)} of {PROJECT_FILE}: {said}")
    for line in misspelt_variables(os.environ):
        echo(f"warning: {line}", err=True)
    _warn_of_options(given)


def _warn_of_options(given: Settings) -> None:
    """Say what a run would refuse of its goal's options."""
    from ..runs.resolver import Resolver

    if not (given.config.options or given.config.goals):
        return
    try:
        Resolver(given).check()
    except RetraiError as error:
        echo(f"warning: `retrai run` refuses this: {error}", err=True)


def _is_claimed(name: str, claims: Claims) -> bool:
    return any(c in (name, f"options.{name}") or c.startswith(f"{name}.") for c in claims)


def _taken(settings: Settings) -> tuple[str, str, str]:
    """The model that a run would take here, and why."""
    from ..runs.resolver import Resolver

    model, origin = settings.config.model_name, settings.origins["model_name"]
    taken = Resolver(settings).shown_model()
    why = origin if taken == model else f"default, since no key for {model} is set"
    return "model", taken, why


def _as_text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, _VALUE_WIDTH)
