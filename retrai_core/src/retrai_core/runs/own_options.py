"""Shows the options of goals under their own names, whatever alias a file gives them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ..config.model import USE
from ..config.option_names import own_name, own_names
from ..config.sources import Settings
from ..contracts.goal import GoalBase
from ..errors import PluginError
from ..plugins.catalog import Catalog


def with_own_names(settings: Settings, catalog: Catalog) -> Settings:
    """The settings with the options of every goal that can be loaded under their own names."""
    config, origins = settings.config, dict(settings.origins)
    goal = config.goal
    if goal is None and config.options:
        goal = next((hit.record.name for hit in catalog.detect(config.cwd)), None)
    update: dict[str, Any] = {}
    if goal is not None and config.options:
        update["options"] = _renamed(
            config.plugin_of(goal), config.options, "options", catalog, origins
        )
    if config.goals:
        update["goals"] = {
            name: _renamed(config.plugin_of(name), entry, f"goals.{name}", catalog, origins)
            for name, entry in config.goals.items()
        }
    return replace(settings, config=config.model_copy(update=update), origins=origins)


def _renamed(
    plugin: str, given: Mapping[str, Any], section: str, catalog: Catalog, origins: dict[str, str]
) -> dict[str, Any]:
    """Options under their own names; their origins move with them."""
    found = catalog.matching(plugin, "goal")
    if len(found) != 1 or not given.keys() - {USE}:
        return dict(given)
    try:
        model = cast("type[GoalBase]", catalog.load(found[0])).Options
    except PluginError:  # a run says what is wrong with it
        return dict(given)
    for name in given:
        own = own_name(model, name)
        if own is not None and own != name and f"{section}.{name}" in origins:
            origins[f"{section}.{own}"] = origins[f"{section}.{name}"]
    return own_names(model, given).options
