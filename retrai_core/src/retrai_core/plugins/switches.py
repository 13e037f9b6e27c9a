"""Which plugins the user has disabled, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .kinds import CORE_DIST, normalised

ALLOW_VARIABLE = "RETRAI_PLUGINS"
DISABLE_VARIABLE = "RETRAI_DISABLE_PLUGINS"
NO_PLUGINS = "--no-plugins"
"""The flag; as the value of `RETRAI_PLUGINS` it says that the flag was given."""


class Switches(NamedTuple):
    """Names of distributions, of entry points, or `name@dist`.

    Attributes:
        allowed: only these are used, with the core's own parts; None for all.
        disabled: these are not used, whatever `allowed` says; by name, what says so: a variable or
            a file.
    """

    allowed: frozenset[str] | None = None
    disabled: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def read(
        cls,
        environ: Mapping[str, str],
        *,
        disabled: Iterable[str] | Mapping[str, str] = (),
    ) -> Switches:
        """Both variables (names separated by commas) and the caller's own.

        `disabled` may say by each name which file switches it off.

        What either switches off is off; an empty variable says nothing.
        """
        named = _names(environ.get(ALLOW_VARIABLE, ""))
        allowed = frozenset[str]() if NO_PLUGINS in named else named or None
        by_variable = dict.fromkeys(_names(environ.get(DISABLE_VARIABLE, "")), DISABLE_VARIABLE)
        if not isinstance(disabled, Mapping):
            disabled = dict.fromkeys(disabled, "")
        return cls(allowed, {**disabled, **by_variable})

    def why_off(self, name: str, dist: str) -> str:
        """Why the plugin `name` of `dist` is switched off; empty when it is not."""
        if switch := switch_for(self.disabled, name, dist):
            by = self.disabled[switch] or "disabled_plugins in the configuration"
            return f"switched off by {by}"
        if self.allowed is None or normalised(dist) == CORE_DIST:
            return ""
        if switch_for(self.allowed, name, dist):
            return ""
        if not self.allowed:
            return f"switched off by {NO_PLUGINS}"
        return f"not among the allowed plugins ({ALLOW_VARIABLE})"

    def switches_on(self, name: str, dist: str) -> str:
        """The command that switches on again what a configuration file switches off, or nothing."""
        switch = switch_for(self.disabled, name, dist)
        by_file = bool(switch) and self.disabled[switch] != DISABLE_VARIABLE
        if not by_file:
            return ""
        import shlex  # most listings have nothing switched off

        return f"retrai plugins enable {shlex.quote(switch)}"


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.replace("\n", ",").split(",") if name.strip())


def switch_for(switched: Iterable[str], name: str, dist: str) -> str:
    """The first switch, sorted, that names this plugin; empty when none does."""
    wanted = normalised(dist)
    for switch in sorted(switched):
        entry, at, of_dist = switch.rpartition("@")
        if at and entry == name and normalised(of_dist) == wanted:
            return switch
        if switch == name or normalised(switch) == wanted:
            return switch
    return ""
