"""What a shell offers after TAB, from the manifests alone: no plugin is imported."""

from __future__ import annotations

import click

from ..plugins.catalog import Catalog


def complete_goal(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The installed goals whose name begins so."""
    names = {record.name for record in Catalog.scan().records("goal")}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_model(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """What the providers' patterns say: a whole name, or a prefix to go on from."""
    patterns = {p for record in Catalog.scan().records("llm") for p in record.model_patterns}
    names = {pattern.removesuffix("*") for pattern in patterns} - {""}
    return sorted(name for name in names if name.startswith(incomplete))
