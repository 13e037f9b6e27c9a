"""Makes the records of the plugins of a distribution, without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .entry import ManifestEntry
from .entry_points import EntryLine, parse_entry_points
from .kinds import CORE_DIST, Kind, normalised, table_of
from .manifest import Manifest, ManifestError, read_manifest
from .metadata import Metadata, parse_metadata
from .package import PackageFolder, find_package
from .record import PluginRecord
from .requirements import accepts, core_range
from .scan import FoundDistribution
from .switches import Switches
from .written import brief_entry, written_manifest


class DistributionPlugins:
    """The plugins of one distribution; their metadata and manifest are read when asked for.

    Args:
        found: what the scan found.
        switches: what the user switched off.
        core_version: the retrai-core that plugins must accept.
        paths: the folders that were scanned; None for what an import would use.
    """

    def __init__(
        self,
        found: FoundDistribution,
        switches: Switches,
        core_version: str,
        paths: Sequence[str] | None = None,
    ) -> None:
        self.found = found
        self.entries = list(parse_entry_points(found.entry_points))
        self.kinds = {entry.kind for entry in self.entries}
        self._switches = switches
        self._core_version = core_version
        self._paths = paths
        self._records: list[PluginRecord] | None = None
        self._manifests: dict[str, Manifest | None] = {}
        self._written: dict[str, str | None] = {}
        self._packages: dict[str, PackageFolder] = {}

    def records(self) -> list[PluginRecord]:
        """One record an entry point, in the order of the file; the same objects every time."""
        if self._records is None:
            metadata = parse_metadata(self.found.metadata())
            self._records = [self._record(entry, metadata) for entry in self.entries]
        return self._records

    def names(self, kind: Kind | None) -> list[str]:
        """The plugins of a kind, or all, that are not switched off, by the entry points alone."""
        return [
            entry.name
            for entry in self.entries
            if kind in (None, entry.kind)
            and not (entry.problem or self.found.shadowed_by)
            and not self._switches.why_off(entry.name, self.found.name)
        ]

    def _record(self, entry: EntryLine, metadata: Metadata) -> PluginRecord:
        record = PluginRecord(
            name=entry.name,
            kind=entry.kind,
            dist=metadata.name or self.found.name,
            version=metadata.version or self.found.version,
            entry_point=entry.value,
            api=core_range(metadata.requires),
            home_page=metadata.home_page,
            metadata_folder=self.found.folder,
        )
        if entry.problem:
            record.status, record.error, record.fix = "broken", entry.problem, record.reinstall
            return record
        package = self._package(entry.module)
        if package is not None:
            is_core = normalised(record.dist) == CORE_DIST
            record.source = "core" if is_core else package.folder or package.origin
        self._judge(record, package, metadata)
        if record.status == "broken" and not record.fix:
            record.fix = record.reinstall
        return record

    def _package(self, module: str) -> PackageFolder | None:
        """The package of an entry point, looked for once where all of them are in one."""
        top = module.partition(".")[0]
        if top in self._packages:
            return self._packages[top]
        package = find_package(module, self._paths)
        if package is not None and package.name == top:  # no part of a namespace
            self._packages[top] = package
        return package

    def _judge(
        self, record: PluginRecord, package: PackageFolder | None, metadata: Metadata
    ) -> None:
        """Set the status; the first reason not to use it is the one that is told."""
        manifest_problem = self._describe(record, package)
        if self.found.shadowed_by:
            record.status = "shadowed"
            record.error = f"an earlier {record.dist} on the path is used: {self.found.shadowed_by}"
            record.fix = f"pip uninstall {record.dist}"
        elif off := self._switches.why_off(record.name, record.dist):
            record.status, record.error = "blocked", off
            record.fix = self._switches.switches_on(record.name, record.dist)
        elif package is None:
            top = record.module.partition(".")[0]
            record.status, record.error = "broken", f"there is no module `{top}` to import"
            if metadata.missing:
                record.error += "; its metadata is left over from a removed installation"
        elif problem := _refusal(record, self._core_version):
            record.status, record.error = "incompatible", problem
            record.fix = f"pip install --upgrade {record.dist} {CORE_DIST}"
        elif manifest_problem:
            record.status, record.error = "broken", manifest_problem

    def _describe(self, record: PluginRecord, package: PackageFolder | None) -> str:
        """Take over what the manifest says; the problem when it cannot be read."""
        path = "" if package is None else package.manifest_path
        if not path:
            return ""
        if path not in self._written:
            self._written[path] = written_manifest(path)
        text = self._written[path]
        brief = brief_entry(text, f"{table_of(record.kind)}.{record.name}") if text else None
        if brief is not None:
            record.read_later(brief, partial(self._entry, path, record.kind, record.name))
            return ""
        try:
            record.entry = self._entry(path, record.kind, record.name)
        except ManifestError as error:
            return str(error)
        return ""

    def _entry(self, path: str, kind: Kind, name: str) -> ManifestEntry | None:
        if path not in self._manifests:
            self._manifests[path] = read_manifest(path)
        return (self._manifests[path] or {}).get((kind, name))


def _refusal(record: PluginRecord, core_version: str) -> str:
    try:
        fits = accepts(record.api, core_version)
    except ValueError as error:
        return str(error)
    return "" if fits else f"it needs {CORE_DIST}{record.api}, this is {CORE_DIST} {core_version}"
