"""Loads a plugin in a separate process, with a time limit; nothing is imported here."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

from .entry import ManifestEntry
from .record import PluginRecord

TIMEOUT_S = 30.0
_CODE = "from retrai_core.plugins.probe_child import answer; answer()"
_TEXTS = ("status", "error", "fix", "traceback")


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
    # Files: a pipe would stay open as long as anything that the plugin started.
    with tempfile.TemporaryDirectory(prefix="retrai-probe-") as folder:
        answer, stderr = Path(folder, "answer"), Path(folder, "stderr")
        with stderr.open("wb") as errors:
            child = subprocess.Popen(
                [sys.executable, "-c", _CODE, str(answer), record.kind, record.full_name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
                },
            )
        try:
            code = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            record.status, record.error = "broken", f"its import takes longer than {timeout_s:g} s"
            return
        finally:
            _end_group(child)
        try:
            _note(record, cast(dict[str, Any], json.loads(answer.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError, KeyError):
            last = stderr.read_text("utf-8", "replace").strip().splitlines()[-1:]
            record.status = "broken"
            record.error = f"the process that imports it ends with {code}: {''.join(last)}"


def _note(record: PluginRecord, told: dict[str, Any]) -> None:
    entry = record.entry
    if entry is None and told["needs"] is not None:
        entry = ManifestEntry(
            summary=told["summary"],
            needs=tuple(told["needs"]),
            model_patterns=tuple(told["model_patterns"]),
            hooks=tuple(told["hooks"]),
        )
    note = record.error  # that the name is ambiguous, say
    for field in (*_TEXTS, "load_ms"):
        setattr(record, field, told[field])
    record.error = record.error or note
    record.entry = entry


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it and all it started have ended
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
