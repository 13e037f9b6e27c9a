"""`retrai plugins`: what is installed, whether it works, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..plugins.catalog import Catalog
from ..plugins.kinds import KINDS, STATUSES, Kind
from .columns import aligned
from .completion import complete_plugin
from .lazy_group import PluginGroup
from .output import echo
from .plugins_switch import disable, enable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..plugins.record import PluginRecord

_SCHEMA = 1
_HEADINGS = ("NAME", "KIND", "DIST", "VERSION", "API", "STATUS", "NEEDS", "SOURCE")
_KIND_OPTION = click.option("--kind", type=click.Choice(KINDS), help="Show only this kind.")
_JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=PluginGroup)
def plugins() -> None:
    """List plugins, and disable or enable them; none is imported into this process."""


plugins.add_command(disable)
plugins.add_command(enable)


@plugins.command("list")
@_KIND_OPTION
@click.option("--status", type=click.Choice(STATUSES), help="Show only plugins with this status.")
@_JSON_OPTION
@click.option(
    "--load", is_flag=True, help="Import each plugin in a separate process and report the result."
)
@click.option(
    "--requirements", is_flag=True, help="Print version pins that reinstall the same set."
)
def list_plugins(
    kind: Kind | None, status: str | None, as_json: bool, load: bool, requirements: bool
) -> None:
    """List the installed plugins.

    `unloaded` is the usual status: the plugin can be used and is not imported yet.
    """
    records = Catalog.configured().records(kind)
    if load:
        _load_apart(records)
    if status is not None or as_json:
        for record in records:
            record.read_manifest()
    records = [record for record in records if status in (None, record.status)]
    if requirements:
        from ..plugins.reinstall import requirement_lines

        echo("\n".join(requirement_lines(records)))
        return
    if as_json:
        echo(_as_json(records))
        return
    echo(aligned([_HEADINGS, *(_row(record) for record in records)]))
    notes = [_note(record) for record in records if record.error and record.status != "blocked"]
    if notes:
        echo("\n" + "\n".join(notes))


@plugins.command()
@click.argument("name", shell_complete=complete_plugin)
@_KIND_OPTION
@_JSON_OPTION
def show(name: str, kind: Kind | None, as_json: bool) -> None:
    """Show the details of the plugin NAME (or NAME@DIST), or of all plugins of a DIST.

    Imports each plugin in a separate process, and checks that it loads, that its manifest is up to
    date and that retrai knows its hooks.
    """
    catalog = Catalog.configured()
    records = catalog.matching(name, kind) or catalog.of_distribution(name, kind)
    if not records:
        raise catalog.unknown(name, kind)
    _load_apart(records)
    if as_json:
        echo(_as_json(records))
        return
    owners = _owners(catalog) if any(record.kind == "hook" for record in records) else {}
    echo("\n\n".join(_described(record, owners) for record in records))


def _load_apart(records: list[PluginRecord]) -> None:
    from ..plugins.probe import probe_plugin

    for record in records:
        probe_plugin(record)


def _as_json(records: list[PluginRecord]) -> str:
    import json  # `plugins list` without --json starts faster

    shown = {"schema": _SCHEMA, "plugins": [record.to_json() for record in records]}
    return json.dumps(shown, indent=2, ensure_ascii=False)


def _row(record: PluginRecord) -> tuple[str, ...]:
    return (
        record.name,
        record.kind,
        record.dist,
        record.version or "?",
        record.api or "-",
        record.status,
        _needs(record),
        record.source or "-",
    )


def _needs(record: PluginRecord) -> str:
    if record.needs is None:
        return "?"
    return ",".join(record.needs) or "-"


def _note(record: PluginRecord) -> str:
    fix = f"; fix it with `{record.fix}`" if record.fix else ""
    return f"{record.full_name} ({record.status}): {record.error}{fix}"


def _owners(catalog: Catalog) -> dict[str, str]:
    """The distribution by the name of each hook that another than retrai specifies."""
    specs = [record for record in catalog.records("hookspec") if record.is_usable]
    _load_apart([record for record in specs if record.entry is None])
    return {hook: record.dist for record in reversed(specs) for hook in record.hooks}


def _hooks(record: PluginRecord, owners: Mapping[str, str]) -> str:
    if record.kind != "hook":
        return ", ".join(record.hooks)
    return ", ".join(
        f"{hook} (of {owners[hook]})" if hook in owners else hook for hook in record.hooks
    )


def _described(record: PluginRecord, owners: Mapping[str, str]) -> str:
    known = "" if record.entry is not None else " (no manifest: known once it is loaded)"
    fields = [
        ("kind", record.kind),
        ("distribution", f"{record.dist} {record.version}"),
        ("summary", record.summary),
        ("status", record.status),
        ("error", record.error),
        ("fix", record.fix),
        ("needs", f"{_needs(record)}{known}"),
        ("api", f"retrai-core {record.api}" if record.api else ""),
        ("programs", ", ".join(record.programs)),
        ("models", ", ".join(record.model_patterns)),
        ("tools", ", ".join(record.default_tools)),
        ("hooks", _hooks(record, owners)),
        ("found by", ", ".join(_marker(m.glob, m.contains) for m in record.markers)),
        ("home page", record.home_page),
        ("entry point", record.entry_point),
        ("source", record.source),
        ("metadata", record.metadata_folder),
        ("load", "" if record.load_ms is None else f"{record.load_ms} ms"),
    ]
    lines = [record.name, aligned((f"  {label}", value) for label, value in fields if value)]
    lines += _options(record)
    if record.traceback:
        lines += ["", record.traceback.rstrip()]
    return "\n".join(lines)


def _options(record: PluginRecord) -> list[str]:
    import json

    if not record.options:
        return []
    # Of every other kind a project's file is asked about whatever it gives.
    trust = ("NEEDS TRUST",) if record.kind == "goal" else ()
    rows = [("  OPTION", "TYPE", "DEFAULT", *trust, "")]
    for name, option in record.options.items():
        default = "required" if option.required else json.dumps(option.default, ensure_ascii=False)
        said = ("yes" if option.needs_trust else "no",) if trust else ()
        rows.append((f"  {name}", option.type, default, *said, option.description))
    return ["", aligned(rows)]


def _marker(glob: str, contains: str) -> str:
    return f"{glob} ({contains})" if contains else glob
