"""Tools that every run gets once they are installed."""

from __future__ import annotations

from ..config.model import RunConfig
from .catalog import Catalog
from .standard_names import AUTO_SANDBOX, SANDBOXES_TO_TRY, STRICT_SANDBOX, WALLED_SANDBOX

_NETWORK, _OFF = "network", "off"


def offered_always(config: RunConfig, catalog: Catalog) -> list[str]:
    """The installed tools that say `offered = "always"`, sorted; imports none.

    Those that need the network are left out where a sandbox that the run may take is set to give
    none: such a tool works outside the sandbox, and would be a way round what the user has set.
    """
    closed = network_is_off(config, catalog)
    return [
        record.name
        for record in catalog.records("tool")
        if record.is_usable
        and record.offered == "always"
        and not (closed and _NETWORK in (record.needs or ()))
    ]


def network_is_off(config: RunConfig, catalog: Catalog) -> bool:
    """Whether a sandbox that the run may take has an option `network`, and it is `off`."""
    names = {AUTO_SANDBOX: SANDBOXES_TO_TRY, STRICT_SANDBOX: (WALLED_SANDBOX,)}
    taken = names.get(config.sandbox, (config.sandbox,))
    for name in taken:
        for record in catalog.matching(name, "sandbox"):
            option = record.options.get(_NETWORK)
            given = config.plugins.get(record.name, {})
            if option is not None and given.get(_NETWORK, option.default) == _OFF:
                return True
    return False
