"""`retrai plugins lock`: writes down which plugins a project is worked on with."""

from __future__ import annotations

from pathlib import Path

import click

from .output import echo
from .project_option import project_option


@click.command()
@project_option
@click.option("--check", is_flag=True, help="Write nothing; exit 2 when the set differs.")
def lock(project: Path, check: bool) -> None:
    """Write retrai.lock: every distribution whose plugins are used, with version and hash.

    `retrai run --locked` refuses any other set.
    """
    from ..config_files import LOCK_FILE
    from ..errors import UsageError
    from ..plugins.catalog import Catalog
    from ..plugins.lock import current_lock, lock_text, require_locked

    catalog = Catalog.configured(project)
    path = project / LOCK_FILE
    if check:
        require_locked(project, catalog)
        echo(f"the plugins are those of {path}")
        return
    current = current_lock(catalog)
    try:
        path.write_text(lock_text(current), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    echo(f"wrote {path} with {len(current)} distributions")
