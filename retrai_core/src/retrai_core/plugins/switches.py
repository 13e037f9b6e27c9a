"""Which plugins the user has switched off, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .kinds import CORE_DIST, normalised

ALLOW_VARIABLE = "RETRAI_PLUGINS"
DISABLE_VARIABLE = "RETRAI_DISABLE_PLUGINS"


class Switches(NamedTuple):
    """Names of distributions, of entry points, or `name@dist`.

    Attributes:
        allowed: only these are used, with the core's own parts; None for all.
        disabled: these are not used, whatever `allowed` says.
    """

    allowed: frozenset[str] | None = None
    disabled: frozenset[str] = frozenset()

    @classmethod
    def read(
        cls,
        environ: Mapping[str, str],
        *,
        disabled: Iterable[str] = (),
        allow: Iterable[str] | None = None,
    ) -> Switches:
        """Both variables (names separated by commas) and the caller's own.

        What either switches off is off; an `allow` of the caller's replaces the variable's, and an
        empty variable says nothing.
        """
        named = _names(environ.get(ALLOW_VARIABLE, ""))
        allowed = frozenset(allow) if allow is not None else named or None
        return cls(allowed, frozenset(disabled) | _names(environ.get(DISABLE_VARIABLE, "")))

    def why_off(self, name: str, dist: str) -> str:
        """Why the plugin `name` of `dist` is switched off; empty when it is not."""
        if _is_named(self.disabled, name, dist):
            return f"switched off (by {DISABLE_VARIABLE}, or in the configuration)"
        if self.allowed is None or normalised(dist) == CORE_DIST:
            return ""
        if _is_named(self.allowed, name, dist):
            return ""
        if not self.allowed:
            return "switched off by --no-plugins"
        return f"not among the allowed plugins ({ALLOW_VARIABLE})"


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.replace("\n", ",").split(",") if name.strip())


def _is_named(switched: frozenset[str], name: str, dist: str) -> bool:
    wanted = normalised(dist)
    for switch in switched:
        entry, at, of_dist = switch.rpartition("@")
        if at and entry == name and normalised(of_dist) == wanted:
            return True
        if switch == name or normalised(switch) == wanted:
            return True
    return False
