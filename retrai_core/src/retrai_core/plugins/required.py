"""The distributions that a project requires, `required_plugins: {DIST: RANGE}`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from ..errors import PluginError, UsageError
from .catalog import Catalog
from .requirements import accepts


def require_plugins(required: Mapping[str, str], catalog: Catalog) -> None:
    """Refuse a run for which a distribution is missing, out of its range or switched off.

    Args:
        required: version range by distribution; an empty one, or `*`, takes any version.
        catalog: what is installed.

    Raises:
        UsageError: a range cannot be read.
        PluginError: names all that is missing, with the command that brings it.
    """
    problems: list[str] = []
    fixes: dict[str, None] = {}
    for dist in sorted(required):
        problem, fix = _unmet(dist, required[dist], catalog)
        if problem:
            problems.append(problem)
        if fix:
            fixes[fix] = None
    if problems:
        hint = f"fix it with `{' && '.join(fixes)}`" if fixes else ""
        raise PluginError(f"required_plugins: {'; '.join(problems)}", hint=hint)


def _unmet(dist: str, wanted: str, catalog: Catalog) -> tuple[str, str]:
    """What is wrong with a distribution, and the command that fixes it; empty where nothing is."""
    clauses = "" if wanted.strip() == "*" else wanted.replace(" ", "")
    install = f"pip install {shlex.quote(dist + clauses)}"
    try:
        installed = version(dist)
    except (PackageNotFoundError, ValueError):
        return f"{dist} is not installed", install
    try:
        fits = accepts(clauses, installed)
    except ValueError as error:
        raise UsageError(
            f"required_plugins: {dist}: {error}", hint="write one as pip does: `>=1.2,<2`"
        ) from error
    if not fits:
        return f"{dist} {installed} is installed, {clauses} is required", install
    records = catalog.of_distribution(dist)
    if records and all(record.status == "blocked" for record in records):
        return f"{dist} is required, and {records[0].error}", records[0].fix
    return "", ""
