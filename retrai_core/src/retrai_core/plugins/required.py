"""The distributions that a project requires, `required_plugins: {DIST: RANGE}`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from ..errors import PluginError, UsageError
from .catalog import Catalog
from .kinds import normalised
from .requirements import accepts


class Unmet(NamedTuple):
    """A requirement that is not met; `fix` is the command that meets it."""

    problem: str
    fix: str


def unmet_requirements(required: Mapping[str, str], catalog: Catalog) -> list[Unmet]:
    """What is missing, out of its range or switched off, sorted by distribution.

    Args:
        required: version range by distribution; an empty one, or `*`, takes any version.

    Raises:
        UsageError: a range cannot be read.
    """
    found = (_unmet(dist, required[dist], catalog) for dist in sorted(required))
    return [unmet for unmet in found if unmet is not None]


def require_plugins(required: Mapping[str, str], catalog: Catalog) -> None:
    """Refuse a run for which something is missing.

    Raises:
        UsageError: a range cannot be read.
        PluginError: names all that is missing, with the command that brings it.
    """
    unmet = unmet_requirements(required, catalog)
    if not unmet:
        return
    problems = "; ".join(each.problem for each in unmet)
    fixes = " && ".join(dict.fromkeys(each.fix for each in unmet if each.fix))
    raise PluginError(
        f"required_plugins: {problems}", hint=f"fix it with `{fixes}`" if fixes else ""
    )


def _unmet(dist: str, wanted: str, catalog: Catalog) -> Unmet | None:
    clauses = "" if wanted.strip() == "*" else wanted.replace(" ", "")
    install = f"pip install {shlex.quote(dist + clauses)}"
    try:
        installed = version(dist)
    except (PackageNotFoundError, ValueError):
        return Unmet(f"{dist} is not installed", install)
    try:
        fits = accepts(clauses, installed)
    except ValueError as error:
        raise UsageError(
            f"required_plugins: {dist}: {error}", hint="write one as pip does: `>=1.2,<2`"
        ) from error
    if not fits:
        return Unmet(f"{dist} {installed} is installed, {clauses} is required", install)
    records = [r for r in catalog.records() if normalised(r.dist) == normalised(dist)]
    if records and all(record.status == "blocked" for record in records):
        return Unmet(f"{dist} is required, and {records[0].error}", records[0].fix)
    return None
