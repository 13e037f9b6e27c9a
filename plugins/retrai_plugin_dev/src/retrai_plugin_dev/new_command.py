"""`retrai plugins new`: a complete plugin distribution to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from retrai_core import Catalog, echo

from .new_distribution import new_distribution
from .template_fields import WITH_TEMPLATE


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
    help="Where to write it: a new or empty folder. Default: one named after it.",
)
@click.option(
    "--dist", default="", metavar="NAME", help="Name of the distribution. Default: retrai-NAME."
)
@click.option("--author", default="", help="Author for the metadata: `Name` or `Name <address>`.")
@click.pass_context
def new(
    ctx: click.Context, kind: str, name: str, folder: Path | None, dist: str, author: str
) -> None:
    """Create a distribution with a working plugin NAME of KIND and its tests.

    KIND is goal, tool, llm, memory, frontend, agent, sandbox, sink or hook.
    """
    root = ctx.find_root().command
    commands = root.list_commands(ctx) if isinstance(root, click.Group) else []
    made = new_distribution(kind, name, author, dist=dist, commands=commands)
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
