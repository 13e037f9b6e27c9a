"""`retrai plugins install` and `uninstall`: by this environment's own installer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from retrai_core import Catalog, echo

from .installer import find_installer
from .installing import (
    changes,
    check_removable,
    check_requirements,
    installed_plugins,
    run_installer,
)

_EXIT_FAILED = 1


def _distributions(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    found = {record.dist for record in Catalog.scan().records()}
    return sorted(dist for dist in found if dist.startswith(incomplete))


@click.command()
@click.argument("distributions", nargs=-1, required=True, metavar="DIST...")
def install(distributions: Sequence[str]) -> int:
    """Install distributions with this environment's installer, and show their plugins.

    DIST is a pip requirement (`acme`, `acme>=1.2`, a folder or a wheel). None of its code is
    imported.
    """
    check_requirements(distributions)
    return _change(distributions, remove=False)


@click.command()
@click.argument(
    "distributions",
    nargs=-1,
    required=True,
    metavar="DIST...",
    shell_complete=_distributions,
)
def uninstall(distributions: Sequence[str]) -> int:
    """Remove distributions with this environment's installer, and show which plugins are gone."""
    check_removable(distributions, Catalog.scan())
    return _change(distributions, remove=True)


def _change(distributions: Sequence[str], *, remove: bool) -> int:
    installer = find_installer(distributions, remove=remove)
    before = installed_plugins()
    echo(shlex.join(installer.command), err=True)
    answer = run_installer(installer.command)
    lines = changes(before, installed_plugins())
    if answer.returncode != 0:
        echo(answer.stdout.rstrip(), err=True)
        verb = "uninstall" if remove else "install"
        echo(
            f"error: {installer.name} could not {verb} {' '.join(distributions)} "
            f"(exit code {answer.returncode}); "
            + ("what it changed all the same:" if lines else "no plugin came or went"),
            err=True,
        )
    for line in lines:
        echo(line)
    if answer.returncode == 0 and not lines:
        echo("no plugin came or went")
    return _EXIT_FAILED if answer.returncode != 0 else 0
