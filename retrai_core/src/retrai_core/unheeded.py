"""Settings that would be passed over in silence: refused, or at least told."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from .chosen import Notice
from .errors import UsageError
from .plugins.catalog import Catalog
from .plugins.standard_names import MCP
from .plugins.switches import switch_for
from .settings import RunConfig, environment_variables, nearest

_OTHER_VARIABLES = (
    "RETRAI_DEBUG",
    "RETRAI_DISABLE_PLUGINS",
    "RETRAI_PLUGINS",
    "RETRAI_STATE_DIR",
    "RETRAI_TRUST",
)
_ALIKE = 0.8
"""Plugins and tests have variables of their own, so only what looks like one of ours is told."""


def refuse_unheeded(config: RunConfig, catalog: Catalog) -> None:
    """Refuse what nobody would heed: options of no plugin, settings without effect.

    Raises:
        UsageError: names the first of them.
    """
    records = catalog.records()
    names = {record.name for record in records} | {record.full_name for record in records}
    for name in config.plugins:
        if name not in names:
            raise UsageError(
                f"plugins: no plugin is called {name}{nearest(name, sorted(names))}",
                hint="`retrai plugins list` shows all",
            )
    if config.mcp and not any(r.name == MCP and r.is_usable for r in catalog.records("hook")):
        raise UsageError(
            "mcp: is set, but no plugin that speaks to MCP servers is installed",
            hint="`pip install retrai-mcp`",
        )


def unheeded(config: RunConfig, catalog: Catalog, environ: Mapping[str, str]) -> list[Notice]:
    """Warnings of names that do nothing: in `disabled_plugins`, and variables misspelt."""
    return [
        *(Notice("warning", line) for line in _disabled_in_vain(config, catalog)),
        *(Notice("warning", line) for line in _misspelt(environ)),
    ]


def _disabled_in_vain(config: RunConfig, catalog: Catalog) -> list[str]:
    plugins = [(record.name, record.dist) for record in catalog.records()]
    known = sorted({name for plugin in plugins for name in plugin})
    return [
        f"disabled_plugins: {name} is neither a plugin nor a distribution{nearest(name, known)}"
        for name in config.disabled_plugins
        if not any(switch_for([name], *plugin) for plugin in plugins)
    ]


def _misspelt(environ: Mapping[str, str]) -> list[str]:
    known = [*environment_variables(), *_OTHER_VARIABLES]
    lines: list[str] = []
    for name in sorted(environ):
        if not name.startswith("RETRAI_") or name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
        if close:
            lines.append(f"{name} is no variable of retrai's (did you mean {close[0]}?)")
    return lines
