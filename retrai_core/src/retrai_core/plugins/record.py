"""What is known about one plugin, loaded or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import PluginError, RetraiError
from .entry import BriefEntry, ManifestEntry, MarkerEntry, Offered, OptionEntry
from .kinds import GROUP_OF, Kind, Status

E = TypeVar("E", bound=RetraiError)


@dataclass(slots=True, eq=False, repr=False)
class PluginRecord:
    """One entry point and its status.

    Attributes:
        name: the entry point's name.
        kind: one of `KINDS`.
        dist: the distribution, as its metadata spells it.
        version: the distribution's version; empty when its metadata does not say.
        entry_point: `module:attribute`.
        api: the range of retrai-core that the distribution accepts; empty when it names none.
        status: `unloaded` until it is loaded, as far as the scan can tell that it could be.
        source: the package's folder, or `core`.
        load_ms: how long the import took, in milliseconds; None until it is loaded.
        error: why it is not usable, or a note on an ambiguous name; empty otherwise.
        fix: the command that fixes it; empty where none is known.
        traceback: of the failed import; empty otherwise.
        home_page: from the metadata.
        metadata_folder: the distribution's `*.dist-info`; empty when it has none on disk.
    """

    name: str
    kind: Kind
    dist: str
    version: str
    entry_point: str
    api: str = ""
    status: Status = "unloaded"
    source: str = ""
    load_ms: float | None = None
    error: str = ""
    fix: str = ""
    traceback: str = ""
    home_page: str = ""
    metadata_folder: str = ""
    _entry: ManifestEntry | None = None
    _brief: BriefEntry | None = None
    _read: Callable[[], ManifestEntry | None] | None = None

    @property
    def entry(self) -> ManifestEntry | None:
        """What the manifest says; None without a manifest, until it is loaded."""
        self.read_manifest()
        return self._entry

    @entry.setter
    def entry(self, entry: ManifestEntry | None) -> None:
        self._brief, self._read, self._entry = None, None, entry

    def read_later(self, brief: BriefEntry, read: Callable[[], ManifestEntry | None]) -> None:
        """Have the manifest parsed when more than `brief` is asked for.

        Args:
            brief: what is known of it already.
            read: gives the whole entry; a ValueError says why there is none.
        """
        self._brief, self._read = brief, read

    def read_manifest(self) -> None:
        """Read what is still to be read of the manifest; the record is `broken` if that fails."""
        if self._read is None:
            return
        read, self._read, self._brief = self._read, None, None
        try:
            self._entry = read()
        except ValueError as error:
            if self.status == "unloaded":
                self.status, self.error, self.fix = "broken", str(error), self.reinstall

    @property
    def is_usable(self) -> bool:
        """Nothing that is known so far, its manifest included, speaks against using it."""
        self.read_manifest()
        return self.status in ("unloaded", "ok")

    @property
    def is_disabled(self) -> bool:
        """Whether it is switched off, or another installation of its name takes its place."""
        return self.status in ("blocked", "shadowed")

    @property
    def reinstall(self) -> str:
        """The command that puts a damaged distribution back."""
        return f"pip install --force-reinstall {self.dist}"

    @property
    def group(self) -> str:
        """The entry-point group."""
        return GROUP_OF[self.kind]

    @property
    def module(self) -> str:
        """The module that its entry point names."""
        return self.entry_point.partition(":")[0].strip()

    @property
    def full_name(self) -> str:
        """`name@dist`, which always works, also where two distributions offer one name."""
        return f"{self.name}@{self.dist}"

    @property
    def needs(self) -> tuple[str, ...] | None:
        """What it uses, sorted; None while that is unknown."""
        known = self._brief or self.entry
        return None if known is None else known.needs

    @property
    def summary(self) -> str:
        """One line that says what it is."""
        known = self._brief or self.entry
        return "" if known is None else known.summary

    @property
    def options(self) -> Mapping[str, OptionEntry]:
        """Its options by name."""
        return {} if self.entry is None else self.entry.options

    def option_name(self, name: str) -> str | None:
        """The option that a name or an alias means; None where it has none of that name."""
        if name in self.options:
            return name
        return next((own for own, option in self.options.items() if name in option.aliases), None)

    @property
    def markers(self) -> tuple[MarkerEntry, ...]:
        """A goal's detection markers."""
        return () if self.entry is None else self.entry.markers

    @property
    def model_patterns(self) -> tuple[str, ...]:
        """A provider's model patterns."""
        known = self._brief or self.entry
        return () if known is None else known.model_patterns

    @property
    def default_tools(self) -> tuple[str, ...]:
        """The tools that a goal asks for when the user names none."""
        return () if self.entry is None else self.entry.default_tools

    @property
    def offered(self) -> Offered:
        """Which runs get a tool: those whose goal or user names it, or all."""
        return "by_goal" if self.entry is None else self.entry.offered

    @property
    def protects(self) -> str:
        """What the agent may not change to reach a goal, in words; empty where it does not say."""
        return "" if self.entry is None else self.entry.protects

    @property
    def steers(self) -> str:
        """Which new files a goal sets aside before its check, in words."""
        return "" if self.entry is None else self.entry.steers

    @property
    def parent(self) -> str:
        """The command group that a frontend is a part of; empty where it is a command itself."""
        known = self._brief or self.entry
        return "" if known is None else known.parent

    @property
    def hooks(self) -> tuple[str, ...]:
        """The hooks that a hook plugin implements, or that hook specs specify."""
        return () if self.entry is None else self.entry.hooks

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that must be on PATH for it to work, sorted."""
        return () if self.entry is None else self.entry.programs

    def __repr__(self) -> str:
        return f"<{self.kind} {self.full_name}: {self.status}>"

    def failure(self, what: str, error: type[E]) -> E:
        """That this plugin failed while it was used, as an error that names it."""
        return error(
            f"the {self.kind} {self.name} of {self.dist} {self.version} failed: {what}",
            hint=f"`pip install --upgrade {self.dist}`, or do without it",
        )

    def problem(self) -> PluginError:
        """Why this plugin cannot be used, as an error that names it and its distribution."""
        hint = f"fix it with `{self.fix}`" if self.fix else ""
        message = f"{self.kind} `{self.name}` of {self.dist} {self.version}".rstrip()
        return PluginError(f"{message} is {self.status}: {self.error}", hint=hint)

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        self.read_manifest()
        entry = self.entry or ManifestEntry()
        return {
            "name": self.name,
            "kind": self.kind,
            "dist": self.dist,
            "version": self.version,
            "api": self.api,
            "status": self.status,
            "source": self.source,
            "entry_point": self.entry_point,
            "load_ms": self.load_ms,
            "error": self.error,
            "fix": self.fix,
            "home_page": self.home_page,
            "traceback": self.traceback,
            **entry._asdict(),
            "needs": self.needs,
            "options": {name: option._asdict() for name, option in entry.options.items()},
            "markers": [marker._asdict() for marker in entry.markers],
            "offered": entry.offered if self.kind == "tool" else None,
            "parent": entry.parent if self.kind == "frontend" else None,
        }
