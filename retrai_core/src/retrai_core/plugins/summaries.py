"""Names and summaries of one kind of plugin: what a help page shows, and nothing more.

A help page is printed so often that it does not even read the metadata, as the catalog does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..config_files import read_plugin_settings
from ..errors import UsageError
from .entry_points import parse_entry_points
from .kinds import Kind, table_of
from .package import WRITTEN, find_package
from .scan import scan_distributions
from .switches import Switches


def plugin_summaries(kind: Kind, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Summary by name of the plugins of `kind` that are not switched off; imports none.

    One whose manifest is missing or cannot be read has an empty summary; whether a plugin can be
    used is the catalog's to say.
    """
    try:
        disabled = read_plugin_settings().disabled
    except UsageError:  # a help page helps all the same; the command that is chosen says it
        disabled = {}
    switches = Switches.read(os.environ if environ is None else environ, disabled=disabled)
    summaries: dict[str, str] = {}
    for dist in scan_distributions():
        for entry in parse_entry_points(dist.entry_points):
            if entry.kind != kind or entry.problem or dist.shadowed_by:
                continue
            if not switches.why_off(entry.name, dist.name):
                summaries[entry.name] = _summary(kind, entry.name, entry.module)
    return dict(sorted(summaries.items()))


def _summary(kind: Kind, name: str, module: str) -> str:
    package = find_package(module)
    if package is None or not package.manifest_path:
        return ""
    written = _written_summary(package.manifest_path, f"{table_of(kind)}.{name}")
    if written is not None:
        return written
    from .manifest import ManifestError, read_manifest

    try:
        manifest = read_manifest(package.manifest_path) or {}
    except ManifestError as error:
        return f"(broken: {error})"
    entry = manifest.get((kind, name))
    return "" if entry is None else entry.summary


def _written_summary(path: str, table: str) -> str | None:
    """The summary in a manifest of our own writing, where it stands right below its table.

    None where the file is written otherwise, or holds an escape: then it takes a TOML reader, which
    costs a help page as much as all the rest that it looks up.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    if not text.startswith(WRITTEN):
        return None
    line = text.partition(f"\n[{table}]\n")[2].partition("\n")[0]
    opening, closing = 'summary = "', '"'
    if not line.startswith(opening) or not line.endswith(closing) or "\\" in line:
        return None
    return line[len(opening) : -len(closing)]
