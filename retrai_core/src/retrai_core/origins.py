"""Where a value stands that a run was given: in which file, or which variable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .config_files import read_plugin_settings
from .errors import UsageError
from .settings import load_settings


def origin_of(project: Path, key: str, value: object) -> str:
    """` (from FILE)` for a value that stands in a file or a variable, else nothing.

    Args:
        project: the project's folder.
        key: a field of `RunConfig`, or `options.NAME`, `plugins.NAME`, `goals.GOAL.OPTION`,
            `agents.AGENT.OPTION`.
        value: as the run has it; a flag may have overruled what stands there.
    """
    try:
        settings = load_settings(project)
    except UsageError:  # of something else, and it is told elsewhere
        return ""
    field, _, name = key.partition(".")
    stands: Any = getattr(settings.config, field)
    entry, dot, option = name.rpartition(".")
    if dot and field in ("goals", "agents"):
        stands, name = stands.get(entry, {}), option
    if name:
        stands = stands.get(name)
    origin = settings.origins.get(key, "default")
    return f" (from {origin})" if origin != "default" and stands == value else ""


def origin_of_disabled(project: Path, name: str) -> str:
    """` (from FILE)` for a name in `disabled_plugins`, which every file adds to; else nothing."""
    try:
        path = read_plugin_settings(project).disabled.get(name)
    except UsageError:  # as above
        return ""
    return f" (from {path})" if path else ""
