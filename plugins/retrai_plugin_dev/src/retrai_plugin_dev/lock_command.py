"""`retrai plugins lock`: writes down which plugins a project is worked on with."""

from __future__ import annotations

import json
from pathlib import Path

import click

from retrai_core import Catalog, UsageError, current_lock, echo, require_locked

from .doctor import LOCK_FILE

_HEADER = (
    "# Written by `retrai plugins lock`; `retrai run --locked` refuses any other set of plugins.\n"
    "schema = 1\n"
)


@click.command()
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 2 if the set differs.")
def lock(project: Path, check: bool) -> None:
    """Write retrai.lock: every distribution whose plugins are used, with version and hash.

    `retrai run --locked` refuses any other set.
    """
    catalog = Catalog.configured(project)
    path = project / LOCK_FILE
    if check:
        require_locked(project, catalog)
        echo(f"the plugins are those of {path}")
        return
    current = current_lock(catalog)
    tables = [
        f"[[distributions]]\ndist = {json.dumps(dist)}\nversion = {json.dumps(locked.version)}\n"
        f"files = {json.dumps(locked.files)}\n"
        for dist, locked in sorted(current.items())
    ]
    try:
        path.write_text("\n".join([_HEADER, *tables]), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    echo(f"wrote {path} with {len(current)} distributions")
