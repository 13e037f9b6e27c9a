"""What is known about one plugin, loaded or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import PluginError
from .entry import LateEntry, ManifestEntry, MarkerEntry, Offered, OptionEntry
from .kinds import GROUP_OF, Kind, Status


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
        late: the manifest's entry where it is read only when it is asked for.
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
    late: LateEntry | None = None
    _entry: ManifestEntry | None = None

    @property
    def entry(self) -> ManifestEntry | None:
        """What the manifest says; None without a manifest, until it is loaded."""
        self.read_manifest()
        return self._entry

    @entry.setter
    def entry(self, entry: ManifestEntry | None) -> None:
        self.late, self._entry = None, entry

    @property
    def is_usable(self) -> bool:
        """Nothing that is known so far, its manifest included, speaks against using it."""
        self.read_manifest()
        return self.status in ("unloaded", "ok")

    @property
    def reinstall(self) -> str:
        """The command that puts a damaged distribution back."""
        return f"pip install --force-reinstall {self.dist}"

    def read_manifest(self) -> None:
        """Read what is still to be read of the manifest; the record is `broken` if that fails."""
        if self.late is None:
            return
        late, self.late = self.late, None
        try:
            self._entry = late.read()
        except ValueError as error:
            if self.status == "unloaded":
                self.status, self.error, self.fix = "broken", str(error), self.reinstall

    @property
    def group(self) -> str:
        """The entry-point group."""
        return GROUP_OF[self.kind]

    @property
    def full_name(self) -> str:
        """`name@dist`, which always works, also where two distributions offer one name."""
        return f"{self.name}@{self.dist}"

    @property
    def needs(self) -> tuple[str, ...] | None:
        """What it uses, sorted; None while that is unknown."""
        if self.late is not None:
            return self.late.needs
        return None if self.entry is None else self.entry.needs

    @property
    def summary(self) -> str:
        """One line that says what it is."""
        return "" if self.entry is None else self.entry.summary

    @property
    def options(self) -> Mapping[str, OptionEntry]:
        """Its options by name."""
        return {} if self.entry is None else self.entry.options

    @property
    def markers(self) -> tuple[MarkerEntry, ...]:
        """A goal's detection markers."""
        return () if self.entry is None else self.entry.markers

    @property
    def model_patterns(self) -> tuple[str, ...]:
        """A provider's model patterns."""
        return () if self.entry is None else self.entry.model_patterns

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
        if self.late is not None:
            return self.late.parent
        return "" if self.entry is None else self.entry.parent

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

    def problem(self) -> PluginError:
        """Why this plugin cannot be used, as an error that names it and its distribution."""
        hint = f"fix it with `{self.fix}`" if self.fix else ""
        message = f"{self.kind} `{self.name}` of {self.dist} {self.version}".rstrip()
        return PluginError(f"{message} is {self.status}: {self.error}", hint=hint)

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        self.read_manifest()
        return {
            "name": self.name,
            "kind": self.kind,
            "dist": self.dist,
            "version": self.version,
            "api": self.api,
            "status": self.status,
            "source": self.source,
            "entry_point": self.entry_point,
            "needs": None if self.needs is None else list(self.needs),
            "load_ms": self.load_ms,
            "error": self.error,
            "fix": self.fix,
            "summary": self.summary,
            "options": {
                name: {
                    "type": option.type,
                    "default": option.default,
                    "required": option.required,
                    "description": option.description,
                    "runs": option.runs,
                    "loosens": option.loosens,
                }
                for name, option in self.options.items()
            },
            "markers": [
                {"glob": marker.glob, "contains": marker.contains, "priority": marker.priority}
                for marker in self.markers
            ],
            "model_patterns": list(self.model_patterns),
            "default_tools": list(self.default_tools),
            "offered": self.offered if self.kind == "tool" else None,
            "protects": self.protects,
            "steers": self.steers,
            "parent": self.parent if self.kind == "frontend" else None,
            "hooks": list(self.hooks),
            "programs": list(self.programs),
            "home_page": self.home_page,
            "traceback": self.traceback,
        }
