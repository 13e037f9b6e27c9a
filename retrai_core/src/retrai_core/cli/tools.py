"""`retrai tools list`: the tools that a run can give to the model."""

from __future__ import annotations

import json

import click

from ..plugins.catalog import Catalog
from ..plugins.record import PluginRecord
from ..plugins.standard_names import ALWAYS_THERE
from .columns import aligned
from .lazy_group import PluginGroup
from .output import echo

_HEADINGS = ("NAME", "NEEDS", "SOURCE", "OFFERED", "SUMMARY")


@click.group(cls=PluginGroup)
def tools() -> None:
    """List the tools that a run can give to the model."""


@tools.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tools(as_json: bool) -> None:
    """List the installed tools: name, needs, source.

    A run gets the goal's tools and those that are always offered; `tools:` in .retrai.yml,
    `--tools` and `--no-tools` change that set. The list comes from the manifests and imports no
    plugin.
    """
    catalog = Catalog.configured()
    records = catalog.records("tool")
    later = [r for r in catalog.records("hook") if r.is_usable and "tools" in r.hooks]
    if as_json:
        data = {
            "tools": [_as_json(record) for record in records],
            "at_run_time": [record.full_name for record in later],
        }
        echo(json.dumps(data, indent=2))
        return
    echo(aligned([_HEADINGS, *(_row(record) for record in records)]))
    names = ", ".join(f"{record.name} ({record.dist})" for record in later)
    echo(
        "\nTools of MCP servers and LangChain are known only at run time"
        + (f"; they come from {names}." if names else "; no installed plugin brings any.")
    )


def _row(record: PluginRecord) -> tuple[str, ...]:
    needs = "?" if record.needs is None else ",".join(record.needs) or "-"
    summary = record.summary if record.is_usable else f"{record.status}: {record.error}"
    offered = _offered(record).replace("_", " ")
    return record.name, needs, f"{record.dist} {record.version}".rstrip(), offered, summary


def _offered(record: PluginRecord) -> str:
    return "always" if record.name == ALWAYS_THERE else record.offered


def _as_json(record: PluginRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "needs": None if record.needs is None else list(record.needs),
        "dist": record.dist,
        "version": record.version,
        "offered": _offered(record),
        "status": record.status,
        "summary": record.summary,
    }
