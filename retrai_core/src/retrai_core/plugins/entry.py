"""What a manifest says about one plugin.

These are named tuples: a frozen dataclass takes eight times as long to define, which would slow
down every `retrai --help`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Offered = Literal["always", "by_goal"]
OFFERS: tuple[Offered, ...] = ("always", "by_goal")
"""Which runs get a tool; see `retrai_core.Tool.offered`."""


class OptionEntry(NamedTuple):
    """An option as the manifest describes it.

    Attributes:
        type: the annotation, as a person writes it (`int`, `str | None`).
        default: a JSON value; None when the option has no default or its default is None.
        required: it must be given.
        description: one or two sentences.
        runs: its value is run, or names what is (a command, a script, an interpreter, an address
            that is connected to).
        loosens: whether its value can make the check easier to pass: it narrows what is checked,
            lowers a threshold, or adds arguments for the runner. None where nobody has said.
        aliases: other names that files and flags may use for it.
    """

    type: str
    default: Any = None
    required: bool = False
    description: str = ""
    runs: bool = False
    loosens: bool | None = None
    aliases: tuple[str, ...] = ()

    @property
    def needs_trust(self) -> bool:
        """Whether the user must agree to a value that a project's own file gives."""
        return self.runs or self.loosens is not False


class MarkerEntry(NamedTuple):
    """A goal's detection marker; see `retrai_core.Marker`, which is not imported by a scan."""

    glob: str
    contains: str = ""
    priority: int = 50


class ManifestEntry(NamedTuple):
    """What `retrai.toml` says about one entry point."""

    summary: str = ""
    needs: tuple[str, ...] = ()
    options: Mapping[str, OptionEntry] = MappingProxyType({})
    markers: tuple[MarkerEntry, ...] = ()
    model_patterns: tuple[str, ...] = ()
    default_tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    offered: Offered = "by_goal"
    protects: str = ""
    steers: str = ""
    parent: str = ""


class BriefEntry(NamedTuple):
    """What lists show of an entry, read without parsing the whole manifest."""

    summary: str
    needs: tuple[str, ...]
    parent: str
    model_patterns: tuple[str, ...]
