"""Finds what is wrong with an imported plugin, for runs, `--load` and the testkit."""

from __future__ import annotations

import json
from typing import Any, cast, get_args

from pydantic import BaseModel

from ..config.model import RunConfig
from ..contracts.needs import Need
from ..errors import nearest
from .describe import declared_needs, describe_plugin
from .entry import ManifestEntry
from .kinds import Kind, table_of
from .manifest import Manifest

_SECRET = "secrets:"
_FOR_GOALS = frozenset({"task"})
"""Settings that a goal may have as an option of its own too."""
_INTERNAL = frozenset({"cwd", "run_id"})
"""Fields of the configuration that no file can set."""


def class_problem(kind: Kind, name: str, plugin: object) -> str:
    """Why a plugin's class cannot be used, or "".

    Args:
        kind: the plugin's.
        name: of its entry point.
        plugin: the class; of a hook also a module or an object.
    """
    own = getattr(plugin, "name", name)
    if kind not in ("hook", "hookspec") and own != name:
        names = f"its entry point is named {name!r}, but its class has name = {own!r}"
        return f"{names}; make them the same"
    return unknown_needs(plugin) or (options_of_the_core(plugin) if kind == "goal" else "")


def unknown_needs(plugin: object) -> str:
    """That a plugin needs what nobody knows, or ""."""
    known: list[str] = list(get_args(Need))
    unknown = [
        need
        for need in declared_needs(plugin)
        if need not in known and (not need.startswith(_SECRET) or need == _SECRET)
    ]
    if not unknown:
        return ""
    told = f"{unknown[0]!r}{nearest(unknown[0], known)}"
    return f"its needs name {told}; known are {', '.join(known)} and {_SECRET}NAME"


def options_of_the_core(goal: object) -> str:
    """That a goal has an option which its project's file could not set, or ""."""
    model = getattr(goal, "Options", None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ""
    taken = sorted(_options(model) & core_settings() - _FOR_GOALS)
    if not taken:
        return ""
    return f"its option {taken[0]!r} is a setting of retrai already: give it another name"


def core_settings() -> frozenset[str]:
    """The top-level keys of `.retrai.yml` that are no options of a goal."""
    return _options(RunConfig) - _INTERNAL


def manifest_problem(kind: Kind, name: str, plugin: object, manifest: Manifest) -> str:
    """That a manifest says something else than the class, or ""."""
    key = (kind, name)
    if key not in manifest:
        return f"its manifest lacks [{table_of(kind)}.{name}]"
    written, of_class = _plain(manifest[key]), _plain(describe_plugin(kind, plugin))
    differing = next((part for part, value in of_class.items() if value != written[part]), None)
    if differing is None:
        return ""
    return f"its manifest is out of date: the class says {differing} = {of_class[differing]}"


def _plain(entry: ManifestEntry) -> dict[str, str]:
    """Each part as JSON, which has one form for a class's values and for those of TOML."""
    options = {name: option._asdict() for name, option in entry.options.items()}
    parts = {**entry._asdict(), "options": options}
    return {part: json.dumps(_without_none(value), sort_keys=True) for part, value in parts.items()}


def _without_none(value: Any) -> Any:
    """TOML has no null: a manifest leaves it out."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {k: _without_none(each) for k, each in entries.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(each) for each in cast("list[Any]", value) if each is not None]
    return value


def _options(model: type[BaseModel]) -> frozenset[str]:
    fields = model.model_fields
    return frozenset({*fields, *(field.alias for field in fields.values() if field.alias)})
