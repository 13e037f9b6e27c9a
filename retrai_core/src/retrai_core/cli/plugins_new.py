"""`retrai plugins new`: a complete plugin distribution to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from ..plugins.template_fields import WITH_TEMPLATE
from .output import echo


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [kind for kind in WITH_TEMPLATE if kind.startswith(incomplete)]


@click.command()
# No click.Choice: its error lists the kinds, but does not say which one was probably meant.
@click.argument("kind", shell_complete=_kinds)
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    help="Where it is written: an empty folder or a new one. Default: one named after it.",
)
@click.option("--author", default="", help="`Name` or `Name <address>`, for the metadata.")
def new(kind: str, name: str, folder: Path | None, author: str) -> None:
    """Write a distribution with a working plugin NAME of KIND, with its tests.

    KIND is goal, tool, llm, memory, frontend, agent, sandbox, sink or hook.
    """
    from ..plugins.catalog import Catalog
    from ..plugins.new_distribution import new_distribution
    from .main import COMMANDS

    made = new_distribution(kind, name, author, commands=COMMANDS)
    folder = folder or Path(made.dist)
    made.write(folder)
    echo(f"{made.dist} written to {folder}, {len(made.files)} files; go on with:")
    echo(f"  cd {folder} && pip install -e '.[dev]' && pytest")
    for record in Catalog.scan().records(made.kind):
        if record.name == name:
            echo(
                f"{record.dist} has the {made.kind} {name} too: where both are installed, "
                f"users must write {name}@{made.dist}"
            )
