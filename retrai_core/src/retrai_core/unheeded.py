"""Settings that would be passed over in silence: refused, or at least told."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath
from typing import get_args

from .chosen import Notice
from .contracts.needs import Need
from .errors import UsageError, nearest
from .guard.globs import fixed_start
from .guard.guard import Guard
from .origins import origin_of, origin_of_disabled
from .plugins.catalog import Catalog
from .plugins.standard_names import MCP
from .plugins.switches import switch_for
from .run_config import USE, RunConfig
from .settings import environment_variables

_OTHER_VARIABLES = (
    "RETRAI_DEBUG",
    "RETRAI_DISABLE_PLUGINS",
    "RETRAI_PLUGINS",
    "RETRAI_STATE_DIR",
    "RETRAI_TRUST",
)
_ALIKE = 0.8
"""Plugins and tests have variables of their own, so only what looks like one of ours is told."""
_NEAR_FILES = 1_000
"""Of so many protected files the nearest to a name is looked for."""
_NEEDS, _SECRETS = "needs:", "secrets:"


def refuse_unheeded(config: RunConfig, catalog: Catalog) -> None:
    """Refuse what nobody would heed: options of no plugin, settings without effect.

    Raises:
        UsageError: names the first of them.
    """
    records = catalog.records()
    names = {record.name for record in records} | {record.full_name for record in records}
    for name, given in config.plugins.items():
        if name not in names:
            raise UsageError(
                f"plugins: no plugin is called {name}{nearest(name, sorted(names))}"
                f"{origin_of(config.cwd, f'plugins.{name}', given)}",
                hint="`retrai plugins list` shows all",
            )
        if {record.kind for record in records if name in (record.name, record.full_name)} == {
            "goal"
        }:
            raise UsageError(
                f"plugins: {name} is a goal, whose options stand at the top level"
                f"{origin_of(config.cwd, f'plugins.{name}', given)}",
                hint=f"move {', '.join(map(str, given)) or 'them'} there, beside `goal: {name}`",
            )
    if config.mcp and not any(r.name == MCP and r.is_usable for r in catalog.records("hook")):
        raise UsageError(
            "mcp: is set, but no plugin that speaks to MCP servers is installed",
            hint="`pip install retrai-mcp`",
        )
    _refuse_needs_of_none(config, catalog)


def unheeded(config: RunConfig, catalog: Catalog, environ: Mapping[str, str]) -> list[Notice]:
    """Warnings of names that do nothing: in `disabled_plugins`, and variables misspelt."""
    return [
        *(Notice("warning", line) for line in _disabled_in_vain(config, catalog)),
        *(Notice("warning", line) for line in _goals_in_vain(config, catalog)),
        *(Notice("warning", line) for line in _agents_in_vain(config, catalog)),
        *(Notice("warning", line) for line in misspelt(environ)),
    ]


def about_no_tool(config: RunConfig, catalog: Catalog, offered: Collection[str]) -> list[str]:
    """Warnings of rules under `permissions:` whose tool is neither installed nor offered.

    Args:
        config: the run's configuration; what its `no_tools` leaves out is not told.
        catalog: what is installed.
        offered: the run's tools, those that are known only at run time among them. A name with a
            dot is told only where it looks like one of a plugin or server that offers tools.
    """
    known = sorted({*offered, *(record.name for record in catalog.records("tool"))})
    servers = {name.partition(".")[0] for name in offered if "." in name}
    lines: list[str] = []
    for verdict, rule in _rules(config):
        name = rule.partition(":")[0].strip()
        if rule.startswith(_NEEDS) or name in known or config.leaves_out(name):
            continue
        server, dot, _ = name.partition(".")
        elsewhere = dot and not difflib.get_close_matches(server, servers, n=1, cutoff=_ALIKE)
        if not elsewhere and not any(mark in name for mark in "*?["):
            told = f"permissions: {verdict}: `{rule}` is about no tool that is installed"
            lines.append(f"{told}{nearest(name, known)}")
    return lines


def leaving_nothing_out(config: RunConfig, catalog: Catalog, offered: Collection[str]) -> list[str]:
    """Warnings of patterns in `no_tools`, or with a minus in `tools`, that mean no tool.

    Args:
        config: the run's configuration.
        catalog: what is installed.
        offered: the tools that are known only at run time, those that were left out among them.
    """
    known = sorted({*offered, *(record.name for record in catalog.records("tool"))})
    near = [*known, *sorted({f"{name.partition('.')[0]}.*" for name in known if "." in name})]
    return [
        line
        for setting, patterns in (("no_tools", config.no_tools), ("tools", config.removed_tools))
        for line in _with_origin(
            [
                f"{setting}: `{pattern}` means no tool that is installed{nearest(pattern, near)}"
                for pattern in patterns
                if not any(fnmatchcase(name, pattern) for name in known)
            ],
            config,
            setting,
        )
    ]


def allowing_nothing(config: RunConfig, guard: Guard) -> list[str]:
    """Warnings of `allow_edit` entries that mean no file that the check is about.

    One that names a test which is still to be written may mean something later, and so may a
    pattern, unless a folder of nearly its name is there instead.

    Args:
        config: the run's configuration.
        guard: knows what the check protects; other files may be changed anyway.
    """
    protected = [*islice(guard.baseline.protected, _NEAR_FILES)]
    told: list[str] = []
    for pattern in config.allow_edit:
        path = pattern.removeprefix("/")
        start = fixed_start(path)
        if not start or start.startswith("!") or (config.cwd / path).is_dir():
            continue
        is_pattern = start != path or path.endswith("/")
        # Of a pattern, the folder that it begins in.
        is_there = (config.cwd / (os.path.dirname(start) if is_pattern else path)).exists()
        known = _folder_patterns(protected) if is_pattern else protected
        near = "" if is_there else nearest(path, known)
        if near if is_pattern else not (guard.belongs_to_check(path) or guard.steers(path)):
            told.append(f"allow_edit: `{pattern}` means no file that the check protects{near}")
    return _with_origin(told, config, "allow_edit")


def _folder_patterns(protected: Iterable[str]) -> list[str]:
    folders = {str(folder) for path in protected for folder in PurePosixPath(path).parents}
    return sorted(f"{folder}/**" for folder in folders - {"."})


def _with_origin(told: list[str], config: RunConfig, setting: str) -> list[str]:
    """The lines with the file or variable in which the setting stands, which is read anew."""
    where = origin_of(config.cwd, setting, getattr(config, setting)) if told else ""
    return [f"{line}{where}" for line in told]


def _refuse_needs_of_none(config: RunConfig, catalog: Catalog) -> None:
    known = {*get_args(Need), *(n for r in catalog.records("tool") for n in r.needs or ())}
    for verdict, rule in _rules(config):
        need = rule.removeprefix(_NEEDS).strip()
        if rule.startswith(_NEEDS) and need not in known and not need.startswith(_SECRETS):
            raise UsageError(
                f"permissions: {verdict}: `{rule}`: no tool needs that"
                f"{nearest(need, sorted(known))}",
                hint=f"a tool may need {', '.join(get_args(Need))}",
            )


def _rules(config: RunConfig) -> Iterator[tuple[str, str]]:
    """Each rule of `permissions:` behind the list that it stands in."""
    section = config.permissions
    if section is not None:
        for verdict, rules in (
            ("deny", section.deny),
            ("ask", section.ask),
            ("allow", section.allow),
        ):
            yield from ((verdict, rule) for rule in rules)


def _disabled_in_vain(config: RunConfig, catalog: Catalog) -> list[str]:
    plugins = [(record.name, record.dist) for record in catalog.records()]
    known = sorted({name for plugin in plugins for name in plugin})
    return [
        f"disabled_plugins: {name} is neither a plugin nor a distribution{nearest(name, known)}"
        f"{origin_of_disabled(config.cwd, name)}"
        for name in config.disabled_plugins
        if not any(switch_for([name], *plugin) for plugin in plugins)
    ]


def _goals_in_vain(config: RunConfig, catalog: Catalog) -> list[str]:
    """Entries of `goals:` that lead to no goal, beside the run's own, of which an error tells."""
    known = sorted({record.name for record in catalog.records("goal")})
    lines: list[str] = []
    for name, entry in config.goals.items():
        plugin = config.plugin_of(name)
        if name == config.goal or catalog.matching(plugin, "goal"):
            continue
        what = f"no goal is called {plugin}{nearest(plugin, known)}"
        if USE not in entry:
            what += f"; `{USE}: GOAL` below {name} says how a check of your own is made"
        where = origin_of(config.cwd, f"goals.{name}", entry)
        lines.append(f"goals.{name}: {what}{where}")
    return lines


def _agents_in_vain(config: RunConfig, catalog: Catalog) -> list[str]:
    known = sorted({record.name for record in catalog.records("agent")})
    return [
        f"agents: no agent is called {name}{nearest(name, known)}"
        f"{origin_of(config.cwd, f'agents.{name}', entry)}"
        for name, entry in config.agents.items()
        if name not in known
    ]


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """Warnings of `RETRAI_...` variables that nobody reads and that look like one that is read."""
    known = [*environment_variables(), *_OTHER_VARIABLES]
    lines: list[str] = []
    for name in sorted(environ):
        if not name.startswith("RETRAI_") or name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
        if close:
            lines.append(f"{name} is no variable of retrai's (did you mean {close[0]}?)")
    return lines
