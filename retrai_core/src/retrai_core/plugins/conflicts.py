"""Two distributions that offer one name: a pin decides; without one, neither can be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .kinds import Kind, normalised
from .record import PluginRecord

Offer = tuple[Kind, str, str]
"""What plugins may both offer: kind, name, and of a frontend the command that it is a part of."""


def settle_names(
    records: Iterable[PluginRecord], pins: Mapping[str, str]
) -> dict[Offer, list[PluginRecord]]:
    """Apply the pins, and find the names that stay contested.

    Where a pin decides, the others become `shadowed`; where none does, each says in its record who
    else offers the name. One that cannot be used anyway contests nothing.

    Args:
        records: changed in place.
        pins: normalised distribution by name.

    Returns:
        the rivals for each name that is still offered twice.
    """
    offers: dict[Offer, list[PluginRecord]] = {}
    for record in records:
        parent = record.parent if record.kind == "frontend" else ""
        offers.setdefault((record.kind, record.name, parent), []).append(record)
    contested = {
        offer: rivals
        for offer, named in offers.items()
        if len(named) > 1 and len(rivals := [r for r in named if r.is_usable]) > 1
    }
    return {
        (kind, name, parent): rivals
        for (kind, name, parent), rivals in contested.items()
        if not _pin_decides(rivals, pins.get(name))
    }


def _pin_decides(rivals: list[PluginRecord], pinned: str | None) -> bool:
    if any(normalised(record.dist) == pinned for record in rivals):
        for record in rivals:
            if normalised(record.dist) != pinned:
                record.status, record.error = "shadowed", f"`{record.name}` is pinned to {pinned}"
        return True
    for record in rivals:
        others = ", ".join(rival.dist for rival in rivals if rival is not record)
        record.error = f"also offered by {others}: write `{record.full_name}` or pin one"
    return False
