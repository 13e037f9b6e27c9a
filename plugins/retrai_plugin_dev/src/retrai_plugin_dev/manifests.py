"""Writing a distribution's manifests from its classes: for authors, never for a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from retrai_core import (
    Catalog,
    Kind,
    ManifestEntry,
    PluginError,
    PluginRecord,
    UsageError,
    describe_plugin,
    find_package,
)

from .manifest_text import Manifest, manifest_text


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """A manifest as it should be.

    Attributes:
        path: where it stands, or should.
        text: what the classes say.
        differs: the file is missing or says something else.
    """

    path: Path
    text: str
    differs: bool


def manifests_of(catalog: Catalog, target: str) -> list[WrittenManifest]:
    """What the manifests of `target` should say; imports its plugins and writes nothing.

    Args:
        catalog: where its plugins are looked up: it must be installed (an editable one will do).
        target: a distribution's name, an import package's name, or a folder that holds the package.

    Raises:
        UsageError: no installed plugin belongs to `target`, or its package is a single file.
        PluginError: one of its plugins cannot be imported.
    """
    chosen = [record for record in catalog.records() if _belongs(record, target)]
    if not chosen:
        raise UsageError(
            f"no installed plugin belongs to `{target}`",
            hint=f"install it first: `pip install -e {target}`",
        )
    folders: dict[str, dict[tuple[Kind, str], ManifestEntry]] = {}
    for record in chosen:
        # The old manifest may be the very thing that is broken: the classes decide here.
        if record.status == "broken":
            record.status = "unloaded"
        record.entry = None
        plugin = catalog.load(record)
        try:
            entry = describe_plugin(record.kind, plugin)
        except (TypeError, ValueError, AttributeError) as error:
            raise PluginError(f"{record.kind} `{record.full_name}`: {error}") from error
        folders.setdefault(_folder(record), {})[record.kind, record.name] = entry
    return [_compared(Path(folder), entries) for folder, entries in sorted(folders.items())]


def _belongs(record: PluginRecord, target: str) -> bool:
    if record.status == "shadowed":
        return False
    if canonicalize_name(record.dist) == canonicalize_name(target):
        return True
    if f"{record.module}.".startswith(f"{target}."):
        return True
    folder = Path(target)
    if not folder.is_dir():
        return False
    package = find_package(record.module)
    return package is not None and folder.resolve() in Path(package.origin).resolve().parents


def _folder(record: PluginRecord) -> str:
    package = find_package(record.module)
    if package is None or not package.folder:
        raise UsageError(
            f"{record.kind} `{record.full_name}` is a single file and has no place for a manifest",
            hint="make it a package: a folder with an __init__.py",
        )
    return package.folder


def _compared(folder: Path, entries: Manifest) -> WrittenManifest:
    path = folder / "retrai.toml"
    text = manifest_text(entries)
    differs = not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text
    return WrittenManifest(path, text, differs)
