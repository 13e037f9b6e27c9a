"""Names and summaries of plugins, for help pages and TAB completion.

Both must be fast, so unlike the catalog this does not read the metadata.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from ..config.files import read_plugin_settings
from ..errors import UsageError
from .entry_points import EntryLine, parse_entry_points
from .kinds import Kind, table_of
from .package import find_package
from .scan import scan_distributions
from .switches import Switches
from .written import ManifestLines


def plugin_summaries(kind: Kind, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Summary by name of the plugins of `kind` that are not switched off; imports none.

    One whose manifest is missing or cannot be read has an empty summary; whether a plugin can be
    used is the catalog's to say.
    """
    summaries = {
        entry.name: _summary(kind, entry.name, entry.module)
        for entry, _ in _switched_on(kind, environ)
    }
    return dict(sorted(summaries.items()))


def command_summaries(parent: str = "", environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Summary by name of the frontends that are a part of `parent`, or commands themselves."""
    summaries: dict[str, str] = {}
    for entry, _ in _switched_on("frontend", environ):
        part_of, summary = _texts("frontend", entry.name, entry.module, ("parent", "summary"))
        if part_of == parent:
            summaries[entry.name] = summary
    return dict(sorted(summaries.items()))


def plugin_names(
    kind: Kind | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Distribution (normalised) by name of the plugins that are not switched off; imports none.

    Of a name that two offer, the last distribution is kept.
    """
    return {entry.name: dist for entry, dist in _switched_on(kind, environ)}


def model_patterns(environ: Mapping[str, str] | None = None) -> set[str]:
    """The model patterns of the providers that are not switched off, from their manifests."""
    return {
        pattern
        for entry, _ in _switched_on("llm", environ)
        for pattern in _patterns(entry.name, entry.module)
    }


def _switched_on(
    kind: Kind | None, environ: Mapping[str, str] | None
) -> Iterator[tuple[EntryLine, str]]:
    try:
        disabled = read_plugin_settings().disabled
    except UsageError:  # a help page helps all the same; the command that is chosen says it
        disabled = dict[str, str]()
    switches = Switches.read(os.environ if environ is None else environ, disabled=disabled)
    for dist in scan_distributions():
        for entry in parse_entry_points(dist.entry_points):
            if kind not in (None, entry.kind) or entry.problem or dist.shadowed_by:
                continue
            if not switches.why_off(entry.name, dist.name):
                yield entry, dist.name


def _summary(kind: Kind, name: str, module: str) -> str:
    return _texts(kind, name, module, ("summary",))[0]


def _texts(kind: Kind, name: str, module: str, keys: Sequence[str]) -> list[str]:
    """What the manifest says for these keys, "" where it says nothing."""
    package = find_package(module)
    if package is None or not package.manifest_path:
        return [""] * len(keys)
    written = ManifestLines.at(package.manifest_path)
    if written is not None:
        table = f"{table_of(kind)}.{name}"
        texts = ["" if written.lacks(table, key) else written.text(table, key) for key in keys]
        plain = [text for text in texts if text is not None]
        if len(plain) == len(keys):
            return plain
    from .manifest import ManifestError, read_manifest

    try:
        manifest = read_manifest(package.manifest_path) or {}
    except ManifestError as error:
        return [f"(broken: {error})" if key == "summary" else "" for key in keys]
    entry = manifest.get((kind, name))
    return [str(getattr(entry, key, "")) for key in keys]


def _patterns(name: str, module: str) -> tuple[str, ...]:
    package = find_package(module)
    if package is None or not package.manifest_path:
        return ()
    written = ManifestLines.at(package.manifest_path)
    patterns = written.texts(f"llms.{name}", "model_patterns") if written else None
    if patterns is not None:
        return patterns
    from .manifest import ManifestError, read_manifest

    try:
        manifest = read_manifest(package.manifest_path) or {}
    except ManifestError:  # TAB is no place to say it
        return ()
    entry = manifest.get(("llm", name))
    return () if entry is None else entry.model_patterns
