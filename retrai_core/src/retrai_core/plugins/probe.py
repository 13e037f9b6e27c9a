"""Trying to load a plugin in a process of its own, with a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from typing import Any, cast

from ..errors import PluginError
from .catalog import Catalog
from .entry import ManifestEntry
from .hooks import HookCaller
from .manifest import read_manifest
from .package import find_package
from .record import PluginRecord
from .soundness import manifest_problem

TIMEOUT_S = 30.0
_CODE = "from retrai_core.plugins.probe import answer; answer()"
_MARK = "retrai-probe:"


def probe_plugin(record: PluginRecord, timeout_s: float = TIMEOUT_S) -> None:
    """Load the plugin in a child process and note in `record` how that went.

    Whatever the plugin does (hang, crash, end the program), it does to the child.

    Args:
        record: changed in place: status, load time, error, traceback, and its needs where it has
            no manifest. A plugin that the scan found unusable is left as it is.
        timeout_s: wall-clock seconds; then the child is ended and the plugin is broken.
    """
    if not record.is_usable:
        return
    child = subprocess.Popen(
        [sys.executable, "-c", _CODE, record.kind, record.full_name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
    )
    try:
        stdout, stderr = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        record.status, record.error = "broken", f"its import takes longer than {timeout_s:g} s"
        return
    finally:
        _end_group(child)
    answer = stdout.decode("utf-8", "replace").rpartition(_MARK)[2]
    try:
        told = cast(dict[str, Any], json.loads(answer))
    except ValueError:
        last = stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        record.status = "broken"
        record.error = f"the process that imports it ends with {child.returncode}: {''.join(last)}"
        return
    for field in ("status", "load_ms", "error", "mend", "traceback"):
        setattr(record, field, told[field])
    if record.entry is None and told["needs"] is not None:
        record.entry = ManifestEntry(
            summary=told["summary"],
            needs=tuple(told["needs"]),
            model_patterns=tuple(told["model_patterns"]),
            hooks=tuple(told["hooks"]),
        )


def answer() -> None:
    """The child's part: load what the command line names and print the record."""
    kind, name = sys.argv[1:]
    catalog = Catalog.scan()
    found = [r for r in catalog.matching(name) if r.kind == kind and r.full_name == name]
    if found:
        record = found[0]
        with contextlib.suppress(PluginError):  # the record says it all
            _look_closer(record, catalog.load(record))
    else:
        record = PluginRecord(name, "goal", "", "", "")
        record.status, record.error = "broken", "it is not installed any more"
    print(_MARK + json.dumps(record.to_json()), flush=True)


def _look_closer(record: PluginRecord, plugin: object) -> None:
    """Note what only an author can mend: hooks that are never called, a manifest out of date."""
    if record.kind == "hook" and HookCaller([(record, plugin)]).broken:
        return
    package = find_package(record.entry_point.partition(":")[0].strip())
    manifest = read_manifest(package.manifest_path) if package and package.manifest_path else None
    if manifest is None:
        return
    if problem := manifest_problem(record.kind, record.name, plugin, manifest):
        record.status, record.error = "broken", problem
        record.mend = f"retrai plugins manifest {record.dist}"


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it and all it started have ended
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
