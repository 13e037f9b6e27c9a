"""`retrai plugins manifest`: writes manifests from the classes."""

from __future__ import annotations

from pathlib import Path

import click

from retrai_core import Catalog, UsageError, echo

from .manifests import manifests_of


@click.command()
@click.argument("target", metavar="PACKAGE_OR_FOLDER")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a manifest differs.")
def manifest(target: str, check: bool) -> int:
    """Write the manifest (retrai.toml) of an installed plugin package from its classes.

    PACKAGE_OR_FOLDER is a distribution, an import package, or the folder of either.
    """
    different = 0
    for written in manifests_of(Catalog.scan(), target):
        if not written.differs:
            echo(f"{written.path} says what the classes say")
            continue
        different += 1
        if check:
            echo(f"{written.path} differs: `retrai plugins manifest {target}` writes it")
        else:
            _write(written.path, written.text)
            echo(f"{written.path} written")
    return 1 if check and different else 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
