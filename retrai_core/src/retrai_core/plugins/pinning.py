"""Checks the pins of a configuration against what is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import UsageError
from .catalog import Catalog
from .kinds import normalised


def pin_problems(pins: Mapping[str, str], catalog: Catalog) -> Iterator[UsageError]:
    """An error for each pin that cannot mean anything, sorted by name."""
    for name in sorted(pins):
        offering = sorted({record.dist for record in catalog.matching(name)})
        if not offering:
            unknown = catalog.unknown(name)
            yield UsageError(
                f"pins: `{name}` is pinned to {pins[name]}, and {unknown.message}",
                hint=unknown.hint,
            )
        elif normalised(pins[name]) not in map(normalised, offering):
            yield UsageError(
                f"pins: `{name}` is pinned to {pins[name]}, which does not offer it",
                hint=f"offered by {', '.join(offering)}",
            )
