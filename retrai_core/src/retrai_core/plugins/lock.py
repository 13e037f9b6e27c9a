"""`retrai.lock`: the plugin distributions that a project uses.

    schema = 1

    [[distributions]]
    dist = "retrai-goals-python"
    version = "0.1.0"
    files = "sha256:..."

`files` is a hash of what the distribution's RECORD says about the files that came with it (paths
and their own hashes). What an installer adds (byte code, scripts outside the package, notes of who
installed it and from where) is left out, so that one wheel has one hash on every machine. A
checkout that is installed editable has `files = "editable"`: its code is whatever stands there.
"""

from __future__ import annotations

import csv
import hashlib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from ..config.files import LOCK_FILE
from ..errors import PluginError, UsageError
from .catalog import Catalog
from .kinds import normalised
from .metadata import direct_url
from .record import PluginRecord

SCHEMA = 1
EDITABLE = "editable"
UNKNOWN = "unknown"
_INSTALLERS_OWN = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"}


class LockedDistribution(BaseModel, frozen=True):
    """One distribution; `files` is `sha256:...`, `editable`, or `unknown` without a RECORD."""

    dist: str
    version: str
    files: str


Lock = Mapping[str, LockedDistribution]


def current_lock(catalog: Catalog) -> Lock:
    """Every distribution that offers a usable plugin, by its normalised name, sorted."""
    active = {normalised(r.dist): r for r in catalog.records() if r.is_usable}
    return {
        dist: LockedDistribution(
            dist=dist, version=active[dist].version, files=_files_of(active[dist])
        )
        for dist in sorted(active)
    }


def read_lock(path: Path) -> Lock:
    """The lock in the file at `path`.

    Raises:
        UsageError: there is none, it cannot be read, or it is of another schema.
    """
    again = "`retrai plugins lock` writes it"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"there is no {path}", hint=again) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=again) from error
    if document.get("schema") != SCHEMA:
        raise UsageError(
            f"{path} has the schema {document.get('schema')!r}, this retrai reads {SCHEMA}",
            hint=again,
        )
    try:
        listed = TypeAdapter(list[LockedDistribution]).validate_python(
            document.get("distributions", [])
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, ("distributions", *first["loc"])))
        raise UsageError(
            f"{path} is no lock file: {where}: {first['msg'].lower()}", hint=again
        ) from error
    return {normalised(locked.dist): locked for locked in listed}


def lock_differences(locked: Lock, current: Lock) -> list[str]:
    """What differs, one line a distribution, sorted."""
    differences: list[str] = []
    for dist in sorted({*locked, *current}):
        wanted, found = locked.get(dist), current.get(dist)
        if wanted is None and found is not None:
            differences.append(f"{dist} {found.version} is not in the lock")
        elif found is None and wanted is not None:
            differences.append(f"{dist} {wanted.version} is not active")
        elif wanted and found and wanted.version != found.version:
            differences.append(f"{dist} is {found.version}, locked is {wanted.version}")
        elif wanted and found and wanted.files != found.files:
            differences.append(f"{dist} {found.version} {_other_files(wanted.files, found.files)}")
    return differences


def require_locked(project: Path, catalog: Catalog) -> None:
    """Refuse a run with other plugins than the project's lock file names.

    Raises:
        UsageError: there is no lock file that can be read.
        PluginError: names each difference.
    """
    differences = lock_differences(read_lock(project / LOCK_FILE), current_lock(catalog))
    if differences:
        raise PluginError(
            f"the plugins are not those of {LOCK_FILE}: {'; '.join(differences)}",
            hint="install what it names, or `retrai plugins lock` to lock what is there",
        )


def _files_of(record: PluginRecord) -> str:
    match direct_url(record.metadata_folder):
        case {"dir_info": {"editable": True}}:
            return EDITABLE
        case _:
            pass
    try:
        with open(f"{record.metadata_folder}/RECORD", encoding="utf-8", newline="") as file:
            return f"sha256:{_digest(csv.reader(file))}"
    except (OSError, UnicodeDecodeError, csv.Error):
        return UNKNOWN


def _digest(rows: Iterable[list[str]]) -> str:
    lines = sorted(",".join(row[:2]) for row in rows if row and _came_with_it(row[0]))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _came_with_it(path: str) -> bool:
    if path.endswith(".pyc") or path.startswith("..") or os.path.isabs(path):
        return False
    folder, _, name = path.rpartition("/")
    return not (folder.endswith(".dist-info") and name in _INSTALLERS_OWN)


def _other_files(wanted: str, found: str) -> str:
    if found == EDITABLE:
        return "is an editable checkout, locked are the files of a wheel"
    if wanted == EDITABLE:
        return "has the files of a wheel, locked is an editable checkout"
    return "has other files than the lock says"
