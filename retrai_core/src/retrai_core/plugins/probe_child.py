"""The child process of `probe`: loads one plugin and reports the result."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from pathlib import Path

from ..errors import PluginError
from .catalog import Catalog
from .hooks import HookCaller
from .manifest import read_manifest
from .other_hookspecs import load_hookspecs, unknown_hooks
from .package import find_package
from .record import PluginRecord
from .soundness import manifest_problem


def answer() -> None:
    """Load what the command line names, and write the record into the file that it names."""
    path, kind, name = sys.argv[1:]
    catalog = Catalog.scan()
    found = [r for r in catalog.matching(name) if r.kind == kind and r.full_name == name]
    if found:
        record = found[0]
        with contextlib.suppress(PluginError):  # the record says it all
            _look_closer(catalog, record, catalog.load(record))
    else:
        record = PluginRecord(name, "goal", "", "", "")
        record.status, record.error = "broken", "it is not installed any more"
    Path(path).write_text(json.dumps(record.to_json()), encoding="utf-8")
    os._exit(0)  # without waiting for threads that the plugin started


def _look_closer(catalog: Catalog, record: PluginRecord, plugin: object) -> None:
    """Note what only an author can fix: hooks that are never called, a manifest out of date."""
    if record.kind == "hook":
        others = load_hookspecs(catalog, unknown_hooks([plugin]))
        if HookCaller([(record, plugin)], others=others).broken:
            return
    if record.kind == "hookspec":
        others = load_hookspecs(catalog, set(record.hooks))
        if record.status == "broken":  # it has a hook that somebody else has
            return
    package = find_package(record.module)
    manifest = read_manifest(package.manifest_path) if package and package.manifest_path else None
    if manifest is None:
        if parent := getattr(plugin, "parent", ""):
            record.status = "broken"
            record.error = f"it has parent = {parent!r}, which only a manifest can say"
            record.fix = f"retrai plugins manifest {record.dist}"
        return
    try:
        problem = manifest_problem(record.kind, record.name, plugin, manifest)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a class whose attributes raise is broken
        record.status, record.error = "broken", f"{type(error).__name__}: {error}"
        record.traceback = "".join(traceback.format_exception(error))
        return
    if problem:
        record.status, record.error = "broken", problem
        record.fix = f"retrai plugins manifest {record.dist}"
